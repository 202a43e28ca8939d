/** What can be done to an entry of the tree (F-1303). */
import { AtSign, Copy, FolderOpen, SquareArrowOutUpRight } from 'lucide-react'
import type { TreeNode } from '../../preload/contract/file-routes.ts'
import { attempt } from '../app/attempt.ts'
import { composerOf } from '../composer/composer-store.ts'
import { client } from '../state/link.ts'
import { useWorkbench } from '../state/workbench-store.ts'
import { MenuItem } from '../ui/menu.tsx'

export function TreeMenu({
  sessionId,
  workspace,
  node,
  onOpen,
}: {
  sessionId: string
  workspace: string
  node: TreeNode
  onOpen: () => void
}) {
  const canReveal = useWorkbench(({ info }) => info?.capabilities.includes('reveal') ?? false)
  const whole = `${workspace.replace(/[\\/]+$/, '')}/${node.path}`
  const copy = (text: string) => void attempt('Could not copy', () => navigator.clipboard.writeText(text))
  const mention = () => {
    const ref = node.kind === 'folder' ? `${node.path}/` : node.path
    composerOf(sessionId).mention({ kind: 'file', ref, label: ref })
  }
  return (
    <>
      <MenuItem icon={FolderOpen} onSelect={onOpen}>
        {node.kind === 'folder' ? 'Open or close' : 'Open'}
      </MenuItem>
      <MenuItem acts icon={AtSign} onSelect={mention}>
        Mention in the message
      </MenuItem>
      <MenuItem icon={Copy} onSelect={() => copy(node.path)}>
        Copy path
      </MenuItem>
      <MenuItem icon={Copy} onSelect={() => copy(whole)}>
        Copy full path
      </MenuItem>
      {canReveal && (
        <MenuItem
          icon={SquareArrowOutUpRight}
          onSelect={() => void attempt('Could not show it', () => client().host.reveal({ path: whole }))}
        >
          Show in its folder
        </MenuItem>
      )}
    </>
  )
}
