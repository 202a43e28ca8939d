/** The ways a terminal can be opened: the default first, the person's profiles, the shells that are installed. */
import { type ReactElement, useState } from 'react'
import type { TerminalProfile } from '../../preload/contract/settings.ts'
import { showDialog } from '../state/window-store.ts'
import { failure } from '../state/link.ts'
import { client } from '../state/link.ts'
import { DropdownMenu, MenuItem, MenuLabel, MenuSeparator } from '../ui/menu.tsx'
import { profileIcon } from './profile-icons.ts'

type ProfileMenuProps = {
  workspace: string
  trigger: ReactElement
  align?: 'start' | 'end'
  /** Told the profile's name. */
  onChoose: (profile: string) => void
}

export function ProfileMenu({ workspace, trigger, align = 'start', onChoose }: ProfileMenuProps) {
  const [profiles, setProfiles] = useState<TerminalProfile[]>([])
  const [problem, setProblem] = useState<string | null>(null)
  const read = () => {
    setProblem(null)
    client()
      .terminals.profiles({ workspace })
      .then(setProfiles, (thrown: unknown) => setProblem(failure(thrown).message))
  }
  return (
    <DropdownMenu trigger={trigger} align={align} onOpenChange={(open) => open && read()}>
      {problem !== null && <MenuLabel>{problem}</MenuLabel>}
      {profiles.map(({ name, icon, program }, at) => (
        <MenuItem key={name} icon={profileIcon[icon]} onSelect={() => onChoose(name)}>
          {name}
          {at === 0 ? <span className="text-faint"> (default)</span> : null}
          <span className="sr-only">, {program}</span>
        </MenuItem>
      ))}
      <MenuSeparator />
      <MenuItem onSelect={() => showDialog({ kind: 'settings', page: 'terminal' })}>Terminal settings…</MenuItem>
    </DropdownMenu>
  )
}
