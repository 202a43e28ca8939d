import { useState } from 'react'
import type { ApprovalMode } from '../../../preload/contract/session.ts'
import type { Update } from '../../../preload/contract/update.ts'
import { modelLabel } from '../../models/model-label.ts'
import { showDialog } from '../../state/window-store.ts'
import { lookForUpdate, useSetting, useWorkbench } from '../../state/workbench-store.ts'
import { shownText } from '../../transcript/shown-text.ts'
import { Button } from '../../ui/button.tsx'
import { Switch } from '../../ui/switch.tsx'
import { TextField } from '../../ui/text-field.tsx'
import { approvalModes } from '../approval-modes.ts'
import { attempt } from '../attempt.ts'
import { NumberRow, Row, Section, SelectRow, SwitchRow, useChange } from './setting-row.tsx'

export function GeneralPage() {
  return (
    <>
      <Section title="New sessions">
        <DefaultModel />
        <SelectRow
          name="approvalMode"
          label="Approval mode"
          detail="Each session can have its own."
          choices={(Object.keys(approvalModes) as ApprovalMode[]).map((value) => ({
            value,
            label: approvalModes[value].label,
          }))}
        />
        <SwitchRow
          name="titles.auto"
          label="Name sessions automatically"
          detail="A short title is made from the first turn; yours always wins."
        />
      </Section>
      <Section title="Writing">
        <SelectRow
          name="composer.whileRunning"
          label="A message while a turn runs"
          choices={[
            { value: 'steer', label: 'Steers the turn' },
            { value: 'queue', label: 'Waits for its turn' },
          ]}
        />
        <SwitchRow
          name="composer.tabQueues"
          label="Tab queues the message"
          detail="While a turn runs; else Tab moves the focus."
        />
        <SwitchRow
          name="composer.enterSends"
          label="Enter sends"
          detail="Off: Enter starts a line, Ctrl or Command with Enter sends."
        />
      </Section>
      <Section title="Turns">
        <SwitchRow name="queue.pauseOnFailure" label="Pause the queue after a failure" />
        <NumberRow name="turns.maxSteps" label="Steps in a turn, at most" least={1} most={1_000} unit="steps" />
        <NumberRow
          name="turns.maxStepsBackground"
          label="Steps in a turn that started by itself"
          least={1}
          most={1_000}
          unit="steps"
        />
        <NumberRow name="turns.maxConcurrent" label="Turns at the same time" least={1} most={8} unit="turns" />
        <NumberRow
          name="questions.timeoutSeconds"
          label="Questions wait for an answer"
          detail="0 waits without end."
          least={0}
          most={86_400}
          unit="seconds"
        />
        <NumberRow name="subagents.max" label="Subagents of a session at the same time" least={1} most={8} unit="" />
        <NumberRow
          name="subagents.depth"
          label="How deep subagents may have their own"
          detail="1: only the session’s own agent has some."
          least={1}
          most={3}
          unit=""
        />
        <NumberRow name="subagents.maxSteps" label="Steps of a subagent, at most" least={1} most={200} unit="steps" />
        <NumberRow
          name="automations.maxConcurrent"
          label="Turns that started by themselves at the same time"
          least={1}
          most={8}
          unit="turns"
        />
        <NumberRow
          name="automations.answerMinutes"
          label="They wait for an answer"
          detail="An approval is denied after that. 0 does not wait."
          least={0}
          most={1_440}
          unit="minutes"
        />
        <SwitchRow name="tools.parallel" label="Run independent tools together" />
      </Section>
      <Section title="Context">
        <NumberRow
          name="compaction.compactAt"
          label="Summarise older turns before the next from"
          detail="What the model is sent; the transcript stays whole."
          least={0.5}
          most={0.95}
          step={0.05}
          unit="of it full"
        />
        <NumberRow
          name="compaction.compactAfter"
          label="Summarise them after a turn from"
          least={0.2}
          most={0.9}
          step={0.05}
          unit="of it full"
        />
        <NumberRow
          name="compaction.retain"
          label="Keep the newest turns whole up to"
          least={0.1}
          most={0.7}
          step={0.05}
          unit="of it full"
        />
      </Section>
      <Section title="Commands">
        <SwitchRow
          name="exec.enabled"
          label="The agent may run commands"
          detail="Off: the shell tool is not offered at all."
        />
        <ShellRow />
      </Section>
      <Section title="Notifications">
        <NotificationsRow />
        <SwitchRow
          name="notifications.preview"
          label="Show content in notifications"
          detail="Off: only the session’s title and what happened."
        />
      </Section>
      <Section title="Window">
        <SelectRow
          name="app.lastWindow"
          label="When the last window closes"
          choices={[
            { value: 'auto', label: 'Stay while turns run' },
            { value: 'stay', label: 'Stay' },
            { value: 'quit', label: 'Quit' },
          ]}
        />
        <SwitchRow
          name="app.keepAwake"
          label="Keep the computer awake while a turn runs"
          detail="In the desktop app. Closing the lid still puts it to sleep; the turn goes on afterwards."
        />
      </Section>
      <UpdatesSection />
    </>
  )
}

/** Where this build has a place to ask; the web host and packages of a system are renewed elsewhere. */
function UpdatesSection() {
  const update = useWorkbench((state) => state.update)
  const wanted = useSetting('updates.check')
  const { error, change } = useChange()
  if (update.state === 'none') return null
  const looks = update.state === 'checking' || update.state === 'downloading'
  return (
    <Section title="Updates">
      <Row
        label="Look for a newer version once a day"
        detail="Sends Lathe’s version and your platform, nothing else. It is installed only when you say so."
        error={error}
      >
        <Switch
          label="Look for a newer version once a day"
          checked={wanted === true}
          onChange={(next) => change({ 'updates.check': next })}
        />
      </Row>
      <Row label={updateText(update)} error={update.problem === null ? undefined : shownText(update.problem)}>
        <Button
          disabled={update.state === 'ready'}
          busy={looks}
          onClick={() => void attempt('Could not look for updates', lookForUpdate)}
        >
          Look now
        </Button>
      </Row>
      {update.notes !== null && (
        <p className="py-8 text-12 whitespace-pre-wrap text-muted">{shownText(update.notes)}</p>
      )}
    </Section>
  )
}

function updateText({ state, version, percent, atQuit }: Update): string {
  switch (state) {
    case 'checking':
      return 'Looking for a newer version'
    case 'downloading':
      return `Downloading Lathe ${shownText(version ?? '')}, ${percent ?? 0} %`
    case 'ready':
      return `Lathe ${shownText(version ?? '')} is ready${atQuit ? ' and is installed when you quit' : ''}`
    case 'current':
      return 'This is the newest version'
    case 'failed':
      return 'The last look failed'
    default:
      return 'Not looked for yet'
  }
}

function DefaultModel() {
  const model = useSetting('model')
  const providers = useWorkbench((state) => state.providers)
  return (
    <Row label="Model" detail={model ?? 'None is chosen.'}>
      <Button onClick={() => showDialog({ kind: 'models', of: 'default' })}>
        {model ? modelLabel(providers, model) : 'Choose'}
      </Button>
    </Row>
  )
}

function ShellRow() {
  const shell = useSetting('exec.shell')
  const [text, setText] = useState(shell ?? '')
  const { error, change } = useChange()
  const keep = () => {
    const next = text.trim() === '' ? null : text.trim()
    if (next !== shell) change({ 'exec.shell': next })
  }
  return (
    <Row label="Shell" detail="A program path. Empty: the system’s own." error={error}>
      <TextField
        label="Shell"
        labelHidden
        mono
        value={text}
        onChange={setText}
        placeholder="/bin/bash"
        onBlur={keep}
        onKeyDown={(event) => event.key === 'Enter' && keep()}
        className="w-200"
      />
    </Row>
  )
}

function NotificationsRow() {
  const [permission, setPermission] = useState(() => ('Notification' in window ? Notification.permission : 'denied'))
  return (
    <>
      <SwitchRow
        name="notifications.enabled"
        label="Notify when a session needs you"
        detail="Only while this window is in the background."
      />
      {permission === 'default' && (
        <Row label="This system has not been asked yet">
          <Button size="small" onClick={() => void Notification.requestPermission().then(setPermission)}>
            Allow notifications
          </Button>
        </Row>
      )}
      {permission === 'denied' && (
        <p className="py-8 text-12 text-muted">Notifications are blocked by the system or browser for Lathe.</p>
      )}
    </>
  )
}
