import { showDialog } from '../state/window-store.ts'
import { Dialog } from '../ui/dialog.tsx'
import { ConnectModel } from './connect-model.tsx'

export function ConnectDialog() {
  return (
    <Dialog
      open
      onOpenChange={() => showDialog(null)}
      title="Connect a model"
      description="A server on this machine, or a provider with a key. Lathe works without one; only turns need it."
      width={600}
    >
      <ConnectModel />
    </Dialog>
  )
}
