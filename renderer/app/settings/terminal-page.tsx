/** Terminals: what they look like, what they start with. */
import { Pencil, Plus, Trash2 } from 'lucide-react'
import { useId, useState } from 'react'
import { profileIcons, TerminalProfile } from '../../../preload/contract/settings.ts'
import { profileIcon } from '../../terminal/profile-icons.ts'
import { useSetting } from '../../state/workbench-store.ts'
import { Button } from '../../ui/button.tsx'
import { IconButton } from '../../ui/icon-button.tsx'
import { Select } from '../../ui/select.tsx'
import { TextField } from '../../ui/text-field.tsx'
import { NumberRow, Row, Section, SwitchRow, useChange } from './setting-row.tsx'

export function TerminalPage() {
  return (
    <>
      <Section title="Text">
        <NumberRow name="terminal.fontSize" label="Font size" least={6} most={40} step={0.5} unit="pixels" />
        <NumberRow name="terminal.scrollback" label="Scrollback" least={100} most={50_000} step={100} unit="lines" />
        <SwitchRow
          name="terminal.screenReader"
          label="Offer output to a screen reader"
          detail="New output is spoken at most once a second, and each row can be read."
        />
      </Section>
      <Section title="Shell">
        <DefaultProfile />
        <SwitchRow
          name="terminal.shellIntegration"
          label="Mark commands"
          detail="bash, zsh and fish tell where each command begins, ends and how it ended. Your prompt and files stay as they are. For terminals opened from now on."
        />
        <SwitchRow
          name="terminal.clipboardWrite"
          label="Programs may write to the clipboard"
          detail="By the escape sequence OSC 52. Reading is never allowed."
        />
      </Section>
      <Profiles />
    </>
  )
}

const own = '\u0000'

function DefaultProfile() {
  const profiles = useSetting('terminal.profiles')
  const chosen = useSetting('terminal.profile')
  const { error, change } = useChange()
  return (
    <Row label="New terminals start with" error={error}>
      <Select
        label="New terminals start with"
        value={profiles.some(({ name }) => name === chosen) ? chosen! : own}
        onChange={(next) => change({ 'terminal.profile': next === own ? null : next })}
        choices={[
          { value: own, label: 'Your own shell' },
          ...profiles.map(({ name }) => ({ value: name, label: name })),
        ]}
      />
    </Row>
  )
}

function Profiles() {
  const profiles = useSetting('terminal.profiles')
  const { error, change } = useChange()
  const [editing, setEditing] = useState<number | null>(null)
  const keep = (at: number, profile: TerminalProfile) => {
    change({ 'terminal.profiles': profiles.with(at, profile) })
    setEditing(null)
  }
  return (
    <Section title="Profiles">
      {profiles.length === 0 && editing === null && (
        <p className="py-8 text-12 text-muted">
          Other programs to start a terminal with, such as a shell in a container. Installed shells are listed without
          one.
        </p>
      )}
      {profiles.map((profile, at) => {
        const Icon = profileIcon[profile.icon]
        return editing === at ? (
          <ProfileForm
            key={profile.name}
            profile={profile}
            taken={profiles.filter((_, other) => other !== at).map(({ name }) => name)}
            onKeep={(next) => keep(at, next)}
            onCancel={() => setEditing(null)}
          />
        ) : (
          <Row
            key={profile.name}
            label={
              <span className="flex items-center gap-8">
                <Icon size={14} strokeWidth={1.75} aria-hidden className="text-muted" />
                {profile.name}
              </span>
            }
            detail={<code>{[profile.program, ...profile.args].join(' ')}</code>}
          >
            <IconButton icon={Pencil} label={`Edit ${profile.name}`} size="small" onClick={() => setEditing(at)} />
            <IconButton
              icon={Trash2}
              label={`Remove ${profile.name}`}
              size="small"
              onClick={() => change({ 'terminal.profiles': profiles.toSpliced(at, 1) })}
            />
          </Row>
        )
      })}
      {editing === profiles.length ? (
        <ProfileForm
          profile={null}
          taken={profiles.map(({ name }) => name)}
          onKeep={(next) => {
            change({ 'terminal.profiles': [...profiles, next] })
            setEditing(null)
          }}
          onCancel={() => setEditing(null)}
        />
      ) : (
        <div className="py-8">
          <Button size="small" onClick={() => setEditing(profiles.length)} disabled={profiles.length >= 20}>
            <Plus size={13} strokeWidth={1.75} aria-hidden />
            Add profile
          </Button>
        </div>
      )}
      {error && (
        <p role="alert" className="text-12 text-failed">
          {error}
        </p>
      )}
    </Section>
  )
}

type ProfileFormProps = {
  profile: TerminalProfile | null
  /** Names of the others. */
  taken: string[]
  onKeep: (profile: TerminalProfile) => void
  onCancel: () => void
}

function ProfileForm({ profile, taken, onKeep, onCancel }: ProfileFormProps) {
  const [name, setName] = useState(profile?.name ?? '')
  const [program, setProgram] = useState(profile?.program ?? '')
  const [args, setArgs] = useState(profile?.args.join('\n') ?? '')
  const [env, setEnv] = useState(
    Object.entries(profile?.env ?? {})
      .map(([key, value]) => `${key}=${value}`)
      .join('\n'),
  )
  const [icon, setIcon] = useState(profile?.icon ?? 'terminal')
  const [fault, setFault] = useState<string>()
  const keep = () => {
    const entries = linesIn(env).map((line) => [line.split('=')[0]!.trim(), line.slice(line.indexOf('=') + 1)] as const)
    if (linesIn(env).some((line) => !line.includes('='))) return setFault('Variables are written NAME=value.')
    if (taken.includes(name.trim())) return setFault('There is a profile of this name already.')
    const read = TerminalProfile.safeParse({
      name,
      program,
      args: linesIn(args),
      env: Object.fromEntries(entries),
      icon,
    })
    if (!read.success) return setFault('It needs a name and a program; variables are named by letters, digits and _.')
    onKeep(read.data)
  }
  return (
    <form
      aria-label={profile ? `Profile ${profile.name}` : 'New profile'}
      className="flex flex-col gap-10 py-10"
      onSubmit={(event) => {
        event.preventDefault()
        keep()
      }}
    >
      <div className="grid grid-cols-2 gap-10">
        <TextField label="Name" value={name} onChange={setName} autoFocus />
        <TextField label="Program" value={program} onChange={setProgram} mono placeholder="/usr/bin/zsh" />
      </div>
      <div className="grid grid-cols-2 gap-10">
        <Lines label="Arguments, one a line" value={args} onChange={setArgs} />
        <Lines label="Variables, NAME=value" value={env} onChange={setEnv} />
      </div>
      <div className="flex items-center gap-8">
        <Select
          label="Icon"
          value={icon}
          onChange={(next) => setIcon(next as typeof icon)}
          choices={profileIcons.map((value) => ({ value, label: value }))}
        />
        <span className="grow" />
        <Button size="small" variant="ghost" onClick={onCancel}>
          Cancel
        </Button>
        <Button size="small" variant="primary" type="submit">
          {profile ? 'Keep' : 'Add'}
        </Button>
      </div>
      {fault && (
        <p role="alert" className="text-12 text-failed">
          {fault}
        </p>
      )}
    </form>
  )
}

function Lines({ label, value, onChange }: { label: string; value: string; onChange: (value: string) => void }) {
  const id = useId()
  return (
    <div className="flex flex-col gap-4">
      <label htmlFor={id} className="text-12 font-medium text-ink">
        {label}
      </label>
      <textarea
        id={id}
        rows={3}
        value={value}
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
        className="resize-none rounded-6 border border-line-control bg-field px-8 py-6 font-mono text-12"
      />
    </div>
  )
}

function linesIn(text: string): string[] {
  return text.split('\n').filter((line) => line.trim() !== '')
}
