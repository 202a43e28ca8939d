/** The first page, and the page without a session: open a folder, connect a model, try the demo (S-174). No modal wall. */
import { ArrowRight, Check, FolderOpen, Play, Sparkles } from 'lucide-react'
import type { ProviderEntry } from '../../preload/contract/model-routes.ts'
import { type DroppedFile, DropTarget, openDropped } from '../composer/drop-target.tsx'
import { folderLabels } from '../sessions/session-groups.ts'
import { IndicatorMark, IndicatorText } from '../sessions/session-indicator.tsx'
import { newSession, openDemo, openFolder, openWorkspace } from '../sessions/session-actions.ts'
import { isSessionFile, offerImport } from '../sessions/session-import.ts'
import { client } from '../state/link.ts'
import { useAnswer } from '../state/use-answer.ts'
import { showDialog, showSession } from '../state/window-store.ts'
import { useEntries, useWorkbench, useWorkspaces } from '../state/workbench-store.ts'
import { counted } from '../transcript/amounts.ts'
import { shownText } from '../transcript/shown-text.ts'
import { useMayAct } from '../ui/acting.ts'
import { Button } from '../ui/button.tsx'
import { classNames } from '../ui/class-names.ts'
import { attempt } from './attempt.ts'
import { toast } from '../ui/toast.tsx'
import { Mark } from './mark.tsx'

const recentMax = 6

/** Where no session is shown, a folder is opened and an exported session brought in; other files need a session. */
async function takeDropped(files: DroppedFile[]): Promise<void> {
  const folder = files.find((one) => one.folder)
  const [first] = files
  if (folder?.path != null) await openDropped(folder.path)
  else if (!folder && first && (await isSessionFile(first.file))) await offerImport(first.file)
  else toast.note('Begin a session first', { detail: 'Then files can be dropped on it.' })
}

export function Welcome() {
  const mayAct = useMayAct()
  const workspaces = useWorkspaces()
  const own = workspaces.filter(({ demo }) => !demo)
  const ready = useWorkbench(({ providers }) => providers).filter(
    ({ state, kind, models }) => state === 'ready' && kind !== 'demo' && models.length > 0,
  )
  const begun = own.length > 0 && ready.length > 0
  return (
    <div className="min-h-0 grow overflow-y-auto">
      <DropTarget
        says={{ files: 'Drop a folder to open it, a session to import it', text: 'Drop to begin a message with it' }}
        onFiles={(files) => void takeDropped(files)}
        onText={(text) => void newSession(undefined, text)}
      />
      <div className="mx-auto flex min-h-full w-full max-w-560 flex-col justify-center gap-32 px-24 py-40">
        <header className="flex items-center gap-16">
          <Mark size={44} />
          <div>
            <h2 className="text-22 font-semibold tracking-tight">
              {!mayAct ? 'You are watching' : begun ? 'What is next?' : 'Welcome to Lathe'}
            </h2>
            <p className="text-14 text-muted">
              {!mayAct
                ? 'Open a session to see what happens in it. Whoever runs this host decides what is sent.'
                : begun
                  ? 'Start something, or go on where you left off.'
                  : 'A workbench for agents that work in your files.'}
            </p>
          </div>
        </header>
        {mayAct && (
          <ol
            aria-label="First steps"
            className="flex flex-col divide-y divide-line rounded-12 border border-line bg-raised"
          >
            <FolderStep done={own.length > 0} />
            <ModelStep ready={ready} />
            {!begun && <DemoStep />}
          </ol>
        )}
        <Recent />
      </div>
    </div>
  )
}

type StepProps = { icon: typeof Check; done: boolean; title: string; detail: React.ReactNode; action: React.ReactNode }

function Step({ icon: Icon, done, title, detail, action }: StepProps) {
  return (
    <li className="flex items-center gap-16 p-16">
      <span
        className={classNames(
          'grid size-32 shrink-0 place-items-center rounded-8',
          done ? 'bg-ok-soft text-ok' : 'bg-accent-soft text-accent-ink',
        )}
      >
        {done ? (
          <Check size={16} strokeWidth={2} role="img" aria-label="Done" />
        ) : (
          <Icon size={16} strokeWidth={1.75} aria-hidden />
        )}
      </span>
      <div className="min-w-0 grow">
        <h3 className="text-13 font-medium">{title}</h3>
        <div className="text-12 text-muted">{detail}</div>
      </div>
      <div className="flex shrink-0 flex-wrap justify-end gap-8">{action}</div>
    </li>
  )
}

function FolderStep({ done }: { done: boolean }) {
  return (
    <Step
      icon={FolderOpen}
      done={done}
      title="Open a folder"
      detail={
        done
          ? 'A session works in one folder. Open another at any time.'
          : 'The agent reads and changes files in it, each change shown to you.'
      }
      action={
        <>
          <Button variant={done ? 'secondary' : 'primary'} onClick={() => void openFolder()}>
            Open folder
          </Button>
          {done && (
            <Button variant="primary" onClick={() => void newSession()}>
              New session
            </Button>
          )}
        </>
      }
    />
  )
}

/** What could answer without typing anything: servers that answer here, keys the environment holds. */
function useOffers(wanted: boolean): string[] {
  const { answer: servers } = useAnswer(wanted ? 'probe' : null, (signal) =>
    client().models.probe(undefined, { signal }),
  )
  const providers = useWorkbench((state) => state.providers)
  const keyed = providers
    .filter(({ keySource, kind }) => keySource === 'environment' && kind !== 'demo')
    .map(({ label }) => `a key for ${label}`)
  return [...(servers ?? []).map(({ label }) => label), ...keyed]
}

function ModelStep({ ready }: { ready: ProviderEntry[] }) {
  const done = ready.length > 0
  const offers = useOffers(!done)
  const models = ready.reduce((count, provider) => count + provider.models.length, 0)
  return (
    <Step
      icon={Sparkles}
      done={done}
      title="Connect a model"
      detail={
        done ? (
          `${ready.map(({ label }) => shownText(label)).join(', ')}: ${counted(models, 'model')} ready.`
        ) : offers.length > 0 ? (
          <>
            Found on this machine: <span className="text-ink">{shownText(offers.join(', '))}</span>.
          </>
        ) : (
          'A local server or a provider’s key. Everything else works without one.'
        )
      }
      action={
        <Button
          variant={done ? 'secondary' : offers.length > 0 ? 'primary' : 'secondary'}
          onClick={() => showDialog({ kind: 'connect' })}
        >
          {done ? 'Manage' : 'Connect'}
        </Button>
      }
    />
  )
}

function DemoStep() {
  return (
    <Step
      icon={Play}
      done={false}
      title="Try the demo"
      detail="A small project and a scripted model that needs no key and no network."
      action={<Button onClick={() => void openDemo()}>Try the demo</Button>}
    />
  )
}

function Recent() {
  const mayAct = useMayAct()
  const workspaces = useWorkspaces()
  const entries = useEntries()
    .filter(({ archivedAt }) => archivedAt === null)
    .toSorted((a, b) => b.updatedAt - a.updatedAt)
    .slice(0, recentMax)
  const labels = folderLabels([...entries.map(({ workspace }) => workspace), ...workspaces.map(({ path }) => path)])
  if (entries.length === 0 && workspaces.length === 0) return null
  return (
    <div className="flex flex-col gap-24">
      {entries.length > 0 && (
        <section aria-labelledby="recent-sessions">
          <h3 id="recent-sessions" className="mb-4 px-8 text-12 font-medium text-faint">
            Recent sessions
          </h3>
          <ul>
            {entries.map((entry) => (
              <li key={entry.id}>
                <button
                  type="button"
                  onClick={() => showSession(entry.id)}
                  className="flex h-32 w-full items-center gap-8 rounded-6 px-8 text-left text-13 hover:bg-hover"
                >
                  <IndicatorMark indicator={entry.indicator} />
                  <bdi className="min-w-0 grow truncate">{shownText(entry.title) || 'Untitled'}</bdi>
                  <span className="max-w-140 shrink-0 truncate text-12 text-faint max-narrow:hidden">
                    {labels.get(entry.workspace)}
                  </span>
                  <IndicatorText entry={entry} />
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
      {entries.length === 0 && mayAct && (
        <section aria-labelledby="recent-folders">
          <h3 id="recent-folders" className="mb-4 px-8 text-12 font-medium text-faint">
            Folders
          </h3>
          <ul>
            {workspaces.slice(0, recentMax).map(({ path, state }) => (
              <li key={path}>
                <button
                  type="button"
                  disabled={state === 'missing'}
                  onClick={() => void attempt('Could not open the folder', () => openWorkspace(path))}
                  className="flex h-32 w-full items-center gap-8 rounded-6 px-8 text-left text-13 hover:bg-hover disabled:text-disabled"
                >
                  <bdi className="min-w-0 grow truncate">{labels.get(path)}</bdi>
                  <ArrowRight size={13} strokeWidth={1.75} aria-hidden className="text-faint" />
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}
