import { Box, Cloud, Database, FlaskConical, type LucideIcon, Server, SquareTerminal, Wrench } from 'lucide-react'
import type { TerminalProfile } from '../../preload/contract/settings.ts'

export const profileIcon: Record<TerminalProfile['icon'], LucideIcon> = {
  terminal: SquareTerminal,
  box: Box,
  cloud: Cloud,
  database: Database,
  flask: FlaskConical,
  server: Server,
  wrench: Wrench,
}
