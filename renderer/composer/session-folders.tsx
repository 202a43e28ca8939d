/** The folders a session reaches: its workspace, and those the person added (F-104). */
import { Folder, FolderPlus, X } from 'lucide-react'
import { useState } from 'react'
import type { ExtraFolder } from '../../preload/contract/session.ts'
import { attempt } from '../app/attempt.ts'
import { chooseFolderToAdd } from '../sessions/session-actions.ts'
import { useFolder, useSessionController, useView } from '../state/session-store.ts'
import { showInspector } from '../state/window-store.ts'
import { useWorkbench } from '../state/workbench-store.ts'
import { shownText } from '../transcript/shown-text.ts'
import { Button } from '../ui/button.tsx'
import { Checkbox } from '../ui/checkbox.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { Popover } from '../ui/popover.tsx'
import { pickerIcon, pickerSlot } from './pickers.tsx'

const none: ExtraFolder[] = []

function nameOf(path: string): string {
  return path.split(/[/\\]/).filter(Boolean).at(-1) ?? path
}

export function SessionFolders({ sessionId }: { sessionId: string }) {
  const path = useFolder(sessionId)
  const workspace = useWorkbench(({ workspaces }) => workspaces.get(path))
  const added = useView(sessionId, ({ header }) => header.extraFolders, none)
  const [open, setOpen] = useState(false)
  return (
    <Popover
      label="Folders of this session"
      side="top"
      open={open}
      onOpenChange={setOpen}
      className="w-360!"
      trigger={
        <Button
          variant="ghost"
          className={pickerSlot}
          aria-label={`Workspace: ${path}${added.length > 0 ? `, and ${added.length} more` : ''}`}
          title={path}
        >
          <Folder {...pickerIcon} />
          <bdi className="max-w-160 truncate group-data-running/foot:@max-[42rem]:hidden @max-[30rem]:hidden">
            {workspace?.name ?? nameOf(path)}
          </bdi>
          {added.length > 0 && <span className="figures text-11 text-faint">+{added.length}</span>}
        </Button>
      }
    >
      <div className="flex flex-col gap-12">
        <div>
          <p className="flex items-baseline gap-8 text-12 text-faint">
            Workspace
            {workspace?.branch && <bdi className="min-w-0 truncate">{shownText(workspace.branch)}</bdi>}
          </p>
          <p className="mt-2 break-all">{shownText(path)}</p>
        </div>
        {added.length > 0 && (
          <ul aria-label="Added folders" className="flex flex-col gap-8">
            {added.map((folder) => (
              <Added key={folder.path} sessionId={sessionId} folder={folder} />
            ))}
          </ul>
        )}
        <div className="flex gap-6">
          <Button
            acts
            size="small"
            onClick={() => {
              setOpen(false)
              void chooseFolderToAdd(sessionId)
            }}
          >
            <FolderPlus size={13} strokeWidth={1.75} aria-hidden /> Add folder…
          </Button>
          <Button
            size="small"
            variant="ghost"
            onClick={() => {
              setOpen(false)
              showInspector('files')
            }}
          >
            Show files
          </Button>
        </div>
      </div>
    </Popover>
  )
}

function Added({ sessionId, folder: { path, writable } }: { sessionId: string; folder: ExtraFolder }) {
  const controller = useSessionController(sessionId)
  const shown = shownText(path)
  return (
    <li className="flex items-start gap-8">
      <span className="min-w-0 grow">
        <bdi className="block break-all">{shown}</bdi>
        <Checkbox
          label="The agent may change files in it"
          checked={writable}
          onChange={(on) => void attempt('Could not change it', () => controller.putFolder(path, on))}
          className="mt-2 text-12 text-muted"
        />
      </span>
      <IconButton
        acts
        icon={X}
        label={`Take ${shown} from this session`}
        size="small"
        onClick={() => void attempt('Could not take it away', () => controller.removeFolder(path))}
      />
    </li>
  )
}
