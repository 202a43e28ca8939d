import { startWindow } from './app/start.tsx'
import { createConnection } from './state/connection.ts'
import { hostOfPage, onNewAddress } from './state/hosts.ts'

const connection = createConnection(hostOfPage())
onNewAddress(connection.retry)
void startWindow(connection, document.querySelector<HTMLElement>('#root')!)
