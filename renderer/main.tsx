import { startWindow } from './app/start.tsx'
import { createConnection } from './state/connection.ts'
import { hostOfPage } from './state/hosts.ts'

void startWindow(createConnection(hostOfPage()), document.querySelector<HTMLElement>('#root')!)
