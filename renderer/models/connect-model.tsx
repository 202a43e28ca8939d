/** Connecting models: what is configured and how it stands, servers found on this machine, a form for another provider. */
import { Cable, KeyRound, Plus, RefreshCw, Trash2 } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import type { ProviderEntry } from '../../preload/contract/model-routes.ts'
import { attempt } from '../app/attempt.ts'
import { act, client, failure } from '../state/link.ts'
import { useAnswer } from '../state/use-answer.ts'
import { ask } from '../state/window-store.ts'
import { changeSettings, loadProviders, useSetting, useWorkbench } from '../state/workbench-store.ts'
import { counted } from '../transcript/amounts.ts'
import { shownText } from '../transcript/shown-text.ts'
import { Badge, type Tone } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { Select } from '../ui/select.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { TextField } from '../ui/text-field.tsx'
import { toast } from '../ui/toast.tsx'
import { modelName } from './model-label.ts'

type Found = Awaited<ReturnType<ReturnType<typeof client>['models']['probe']>>[number]

/** Kinds a person adds by hand, with the id and address they usually have. */
const kinds = {
  anthropic: { label: 'Anthropic', id: 'anthropic', key: true, address: false },
  openai: { label: 'OpenAI', id: 'openai', key: true, address: false },
  google: { label: 'Google', id: 'google', key: true, address: false },
  'openai-compatible': { label: 'OpenAI-compatible server', id: 'server', key: true, address: true },
  ollama: { label: 'Ollama', id: 'ollama', key: false, address: true },
} as const
type Kind = keyof typeof kinds

/** The first model that becomes ready is the default, so that a first message has somebody to answer it. */
async function takeFirstModel(provider: string, models: readonly string[]): Promise<void> {
  const { settings } = useWorkbench.getState()
  if (settings.model === null && models[0])
    await changeSettings({ model: modelName(provider, models[0]) }).catch(() => {})
}

export function ConnectModel() {
  return (
    <div className="flex flex-col gap-24">
      <Providers />
      <LocalServers />
      <AddProvider />
    </div>
  )
}

function Heading({ children, action }: { children: string; action?: React.ReactNode }) {
  return (
    <div className="mb-8 flex h-24 items-center justify-between">
      <h3 className="text-12 font-semibold">{children}</h3>
      {action}
    </div>
  )
}

function Providers() {
  const providers = useWorkbench((state) => state.providers)
  const loading = useWorkbench(({ providersLoading }) => providersLoading)
  const [refreshing, setRefreshing] = useState(false)
  const refresh = () => {
    setRefreshing(true)
    void loadProviders(true).finally(() => setRefreshing(false))
  }
  return (
    <section aria-label="Providers">
      <Heading
        action={
          <IconButton
            icon={RefreshCw}
            label="Ask all providers again"
            size="small"
            disabled={refreshing}
            onClick={refresh}
          />
        }
      >
        Providers
      </Heading>
      {typeof loading === 'object' ? (
        <ErrorState
          what="Could not load the providers"
          message={loading.message}
          hint={loading.hint}
          code={loading.code}
          onRetry={refresh}
          className="h-auto"
        />
      ) : loading === 'loading' ? (
        <Skeleton label="Loading providers" />
      ) : providers.length === 0 ? (
        <EmptyState
          icon={Cable}
          title="No provider is connected"
          detail="Add one below, or start a local server and look again."
          className="h-auto"
        />
      ) : (
        <ul className="flex flex-col divide-y divide-line rounded-8 border border-line">
          {providers.map((provider) => (
            <ProviderRow key={provider.id} provider={provider} />
          ))}
        </ul>
      )}
    </section>
  )
}

const states: Record<ProviderEntry['state'], { word: string; tone: Tone }> = {
  ready: { word: 'Ready', tone: 'ok' },
  needs_key: { word: 'Needs a key', tone: 'needs' },
  unreachable: { word: 'Cannot be reached', tone: 'failed' },
  off: { word: 'Not running', tone: 'neutral' },
}
const keySources = { environment: 'Key from the environment', stored: 'Key stored', none: '' }

function ProviderRow({ provider }: { provider: ProviderEntry }) {
  const { id, label, state, reason, baseUrl, keySource, models } = provider
  const [tested, setTested] = useState<{ ok: boolean; message: string } | 'testing' | null>(null)
  const [keying, setKeying] = useState(false)
  const test = async () => {
    setTested('testing')
    setTested(
      await client()
        .models.test({ provider: id })
        .catch((thrown: unknown) => ({ ok: false, message: failure(thrown).message })),
    )
  }
  const remove = async () => {
    const yes = await ask({
      title: `Remove ${label}?`,
      description: 'Its models can no longer be chosen. A stored key is forgotten.',
      confirm: 'Remove provider',
      danger: true,
    })
    if (yes) await attempt('Could not remove the provider', () => client().models.removeProvider({ ...act(), id }))
    if (yes) void loadProviders()
  }
  const facts = [baseUrl, counted(models.length, 'model'), keySources[keySource]].filter(Boolean).join(' · ')
  return (
    <li className="flex flex-col gap-8 p-12">
      <div className="flex items-center gap-8">
        <div className="min-w-0 grow">
          <p className="flex items-center gap-8 text-13 font-medium">
            <span className="truncate">{shownText(label)}</span>
            <Badge tone={states[state].tone}>{states[state].word}</Badge>
          </p>
          <p className="truncate text-11 text-muted" title={facts}>
            {shownText(facts)}
          </p>
        </div>
        <Button size="small" busy={tested === 'testing'} onClick={() => void test()}>
          Test
        </Button>
        {provider.kind !== 'demo' && (
          <IconButton
            icon={KeyRound}
            label={`Key of ${label}`}
            size="small"
            pressed={keying}
            onClick={() => setKeying(!keying)}
          />
        )}
        {provider.kind !== 'demo' && (
          <IconButton icon={Trash2} label={`Remove ${label}`} size="small" onClick={() => void remove()} />
        )}
      </div>
      {reason !== null && state !== 'ready' && tested === null && (
        <p className="text-12 text-muted">{shownText(reason)}</p>
      )}
      {tested !== null && tested !== 'testing' && (
        <p role="status" className={tested.ok ? 'text-12 text-ok' : 'text-12 text-failed'}>
          {tested.ok ? 'It answers. ' : 'It does not answer: '}
          <span className="text-muted">{shownText(tested.message)}</span>
        </p>
      )}
      {keying && <KeyField provider={id} stored={keySource === 'stored'} onDone={() => setKeying(false)} />}
    </li>
  )
}

/** A key goes once to the host, which says where it keeps it; it never comes back. */
function KeyField({ provider, stored, onDone }: { provider: string; stored: boolean; onDone: () => void }) {
  const [key, setKey] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<string>()
  const save = async (value: string | null) => {
    setBusy(true)
    setError(undefined)
    try {
      const { storedIn } = await client().models.setKey({ ...act(), provider, key: value })
      setKey('')
      if (value === null) toast.done('Key removed')
      else
        toast.done('Key stored', {
          detail:
            storedIn === 'keychain'
              ? 'In the system’s keychain.'
              : 'In a file only you can read: this system offers no keychain.',
        })
      void loadProviders(true)
      onDone()
    } catch (thrown) {
      setError(failure(thrown).message)
    } finally {
      setBusy(false)
    }
  }
  return (
    <form
      className="flex items-end gap-8"
      onSubmit={(event) => {
        event.preventDefault()
        if (key.trim() !== '') void save(key.trim())
      }}
    >
      <TextField
        label="API key"
        type="password"
        mono
        value={key}
        onChange={setKey}
        error={error}
        placeholder={stored ? 'A key is stored; a new one replaces it' : ''}
        className="grow"
      />
      <Button type="submit" busy={busy} disabled={key.trim() === ''}>
        Save key
      </Button>
      {stored && (
        <Button variant="ghost" disabled={busy} onClick={() => void save(null)}>
          Remove key
        </Button>
      )}
    </form>
  )
}

function LocalServers() {
  const { answer, error, busy, again } = useAnswer('local servers', (signal) =>
    client().models.probe(undefined, { signal }),
  )
  const providers = useWorkbench((state) => state.providers)
  const found = error ? [] : answer
  const known = new Set(providers.map(({ baseUrl }) => baseUrl))
  const offered = found?.filter(({ baseUrl }) => !known.has(baseUrl)) ?? []
  return (
    <section aria-label="On this machine">
      <Heading action={<IconButton icon={RefreshCw} label="Look again" size="small" disabled={busy} onClick={again} />}>
        On this machine
      </Heading>
      {found === null ? (
        <p role="status" className="text-12 text-muted">
          Looking for local servers…
        </p>
      ) : offered.length === 0 ? (
        <p className="text-12 text-muted">
          {found.length > 0
            ? 'Every server found is connected.'
            : 'No local server answers. Start Ollama, LM Studio or llama.cpp and look again.'}
        </p>
      ) : (
        <ul className="flex flex-col divide-y divide-line rounded-8 border border-line">
          {offered.map((server) => (
            <LocalServer key={server.baseUrl} server={server} />
          ))}
        </ul>
      )}
    </section>
  )
}

function LocalServer({ server }: { server: Found }) {
  const [busy, setBusy] = useState(false)
  const add = async () => {
    setBusy(true)
    const { providers } = useWorkbench.getState()
    const base =
      server.kind === 'ollama'
        ? 'ollama'
        : server.label
            .toLowerCase()
            .replaceAll(/[^a-z0-9]+/g, '-')
            .replaceAll(/^-|-$/g, '')
            .slice(0, 24) || 'local'
    let id = base
    for (let next = 2; providers.some((provider) => provider.id === id); next += 1) id = `${base}-${next}`
    await attempt('Could not add the server', async () => {
      await client().models.putProvider({ ...act(), id, kind: server.kind, baseUrl: server.baseUrl })
      await loadProviders(true)
      await takeFirstModel(id, server.models)
    })
    setBusy(false)
  }
  return (
    <li className="flex items-center gap-8 p-12">
      <div className="min-w-0 grow">
        <p className="text-13 font-medium">{shownText(server.label)}</p>
        <p className="truncate text-11 text-muted">
          {server.baseUrl} ·{' '}
          {server.models.length === 0 ? 'no models yet' : shownText(server.models.slice(0, 4).join(', '))}
          {server.models.length > 4 && ` and ${server.models.length - 4} more`}
        </p>
      </div>
      <Button size="small" variant="primary" busy={busy} onClick={() => void add()}>
        Use
      </Button>
    </li>
  )
}

function AddProvider() {
  const [open, setOpen] = useState(false)
  const [kind, setKind] = useState<Kind>('anthropic')
  const [id, setId] = useState('')
  const [address, setAddress] = useState('')
  const [key, setKey] = useState('')
  const [models, setModels] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<string>()
  const fallback = useSetting('model')
  const shape = kinds[kind]
  const idWanted = id.trim() || shape.id
  const save = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setError(undefined)
    const listed = models.split(/[\s,]+/).filter(Boolean)
    try {
      await client().models.putProvider({
        ...act(),
        id: idWanted,
        kind,
        ...(address.trim() === '' ? {} : { baseUrl: address.trim() }),
        ...(listed.length === 0 ? {} : { models: listed }),
      })
      if (key.trim() !== '') await client().models.setKey({ ...act(), provider: idWanted, key: key.trim() })
      await loadProviders(true)
      const test = await client().models.test({ provider: idWanted })
      if (!test.ok) return setError(test.message)
      const entry = useWorkbench.getState().providers.find((provider) => provider.id === idWanted)
      if (fallback === null) await takeFirstModel(idWanted, entry?.models.map(({ name }) => name) ?? [])
      toast.done(`${shape.label} is connected`)
      setOpen(false)
      setKey('')
    } catch (thrown) {
      const { message, hint } = failure(thrown)
      setError([message, hint].filter(Boolean).join(' '))
    } finally {
      setBusy(false)
    }
  }
  if (!open)
    return (
      <Button className="self-start" onClick={() => setOpen(true)}>
        <Plus size={14} strokeWidth={1.75} aria-hidden />
        Add a provider
      </Button>
    )
  return (
    <section aria-label="Add a provider">
      <Heading>Add a provider</Heading>
      <form className="flex flex-col gap-12 rounded-8 border border-line p-12" onSubmit={(event) => void save(event)}>
        <div className="flex flex-wrap gap-12">
          <div className="flex grow flex-col gap-4">
            <span className="text-12 font-medium" aria-hidden>
              Kind
            </span>
            <Select<Kind>
              label="Kind"
              value={kind}
              onChange={setKind}
              choices={(Object.keys(kinds) as Kind[]).map((value) => ({ value, label: kinds[value].label }))}
            />
          </div>
          <TextField
            label="Short name"
            value={id}
            onChange={setId}
            placeholder={shape.id}
            pattern="[a-z0-9-]{1,32}"
            title="Small letters, digits and dashes"
            className="grow"
          />
        </div>
        {shape.address && (
          <TextField
            label="Address"
            type="url"
            required={kind === 'openai-compatible'}
            mono
            value={address}
            onChange={setAddress}
            placeholder={kind === 'ollama' ? 'http://127.0.0.1:11434' : 'https://models.example.com/v1'}
          />
        )}
        {shape.key && (
          <TextField
            label="API key"
            type="password"
            mono
            value={key}
            onChange={setKey}
            hint="Kept in the system’s keychain, never in the configuration. Leave it out if it is in the environment."
          />
        )}
        {kind === 'openai-compatible' && (
          <TextField
            label="Models"
            value={models}
            onChange={setModels}
            hint="Names, if the server does not list its own."
          />
        )}
        {error && (
          <p role="alert" className="text-12 break-words text-failed">
            {shownText(error)}
          </p>
        )}
        <div className="flex justify-end gap-8">
          <Button variant="ghost" onClick={() => setOpen(false)}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" busy={busy}>
            Add and test
          </Button>
        </div>
      </form>
    </section>
  )
}
