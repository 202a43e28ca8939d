/** What each slash command does. Refusals come back as a remark above the text, which stays as it was typed. */
import type { SlashCommand } from '../../preload/contract/slash-commands.ts'
import { compactContext } from '../context/compact.ts'
import { findModel } from '../models/model-label.ts'
import { archiveSession, deleteSession, exportSession, forkSession } from '../sessions/session-actions.ts'
import { openSession } from '../state/session-store.ts'
import { showDialog, showInspector, useWindow } from '../state/window-store.ts'
import { useWorkbench } from '../state/workbench-store.ts'
import { openTerminal } from '../terminal/terminal-actions.ts'
import { redoLastTurn, undoLastTurn } from '../transcript/item-actions.ts'
import { newSessionHere } from '../transcript/new-session.ts'
import { toast } from '../ui/toast.tsx'
import { chooseAgent } from './choose-agent.ts'

/** What only the composer itself can do for a command. */
export type ComposerHands = {
  attach(): void
  openPicker(which: 'model' | 'effort' | 'mode'): void
  stop(): Promise<void>
}

/** Null once done, or why it was not. Throws `LatheError` where the host refuses. */
export async function runSlash(
  sessionId: string,
  { name, kind }: SlashCommand,
  argument: string,
  hands: ComposerHands,
): Promise<string | null> {
  const { store, controller } = openSession(sessionId)
  const { view } = store.getState()
  if (!view) return 'The session is still being opened.'
  const { header, turns } = view
  if ((kind === 'turn' || kind === 'idle') && header.currentTurnId !== null) return 'A turn is running. Stop it first.'
  const last = turns.at(-1)
  switch (name) {
    case 'new':
      return (await newSessionHere(sessionId, argument)) === null ? 'No session was started.' : null
    case 'stop':
      if (header.currentTurnId === null) return await controller.sideCommand(name, '')
      await hands.stop()
      return null
    case 'model':
    case 'mode':
    case 'effort':
      if (argument === '' && (name !== 'effort' || offersEffort(header.model))) return (hands.openPicker(name), null)
      return await controller.sideCommand(name, argument)
    case 'agent':
      if (argument !== '') return await controller.sideCommand(name, argument)
      await chooseAgent(sessionId)
      return null
    case 'status':
    case 'history':
    case 'usage':
    case 'context':
      return await controller.sideCommand(name, argument)
    case 'compact':
      // What comes of it stands in the transcript, a while later.
      void compactContext(sessionId, argument)
      return null
    case 'retry':
      if (!last) return 'There is no message to try again.'
      await controller.retry(last.id)
      return null
    case 'continue':
      if (!last) return 'There is no turn to go on from.'
      if (header.recovery?.status === 'awaiting') await controller.continueRecovery(header.recovery.recoveryId)
      else await controller.continueTurn(last.id)
      return null
    case 'undo':
      return (await undoLastTurn(sessionId)) ? null : 'There is no turn to undo.'
    case 'redo':
      return (await redoLastTurn(sessionId)) ? null : 'No turn here was undone.'
    case 'branch':
      await forkSession(sessionId, undefined, argument === '' ? undefined : argument)
      return null
    case 'rename':
      if (argument !== '') return await controller.sideCommand(name, argument)
      useWindow.setState({ renaming: { sessionId, place: 'title' } })
      return null
    case 'pin':
      return await controller.sideCommand(name, '')
    case 'archive':
      await archiveSession(sessionId, true)
      return null
    case 'delete':
      await deleteSession(sessionId)
      return null
    case 'export': {
      const format = argument === '' ? 'md' : argument.toLowerCase()
      if (format !== 'md' && format !== 'json' && format !== 'html') return 'Choose one of md, json, html.'
      await exportSession(sessionId, format)
      return null
    }
    case 'copy': {
      const answer = view.items.findLast((item) => item.kind === 'text' && item.visible && item.text !== '')
      if (answer?.kind !== 'text') return 'There is no answer to copy yet.'
      await navigator.clipboard.writeText(answer.text)
      toast.done('Answer copied')
      return null
    }
    case 'attach':
      hands.attach()
      return null
    case 'diff':
      showInspector('changes')
      return null
    case 'plan':
      showInspector('plan')
      return null
    case 'terminal':
      await openTerminal(header.workspace)
      return null
    case 'sessions':
      showDialog({ kind: 'palette', mode: '#' })
      return null
    case 'search':
      showDialog({ kind: 'search' })
      return null
    case 'settings':
      showDialog({ kind: 'settings', page: 'general' })
      return null
    case 'help':
      showDialog({ kind: 'shortcuts' })
      return null
    default:
      return `/${name} cannot be used here.`
  }
}

function offersEffort(model: string | null): boolean {
  const { providers, settings } = useWorkbench.getState()
  return (findModel(providers, model ?? settings.model ?? '')?.model.efforts ?? []).length > 0
}
