/** Choosing the model of the session on screen, or the default where there is none (M-21). Opens from what is known at once. */
import { Command as List } from 'cmdk'
import { Check, Eye, Settings2, Wrench } from 'lucide-react'
import { useEffect, useMemo, useState } from 'react'
import { flushSync } from 'react-dom'
import type { ModelEntry, ProviderEntry } from '../../preload/contract/model-routes.ts'
import { attempt } from '../app/attempt.ts'
import { fuzzyMatch } from '../app/fuzzy.ts'
import { Marked } from '../search/marked.tsx'
import { prefer, usePreference, usePreferences, withRecent } from '../state/preferences.ts'
import { openSession } from '../state/session-store.ts'
import { showDialog, useWindow } from '../state/window-store.ts'
import { changeSettings, loadProviders, useSetting, useWorkbench } from '../state/workbench-store.ts'
import { tokensText } from '../transcript/amounts.ts'
import { shownText } from '../transcript/shown-text.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { modelName } from './model-label.ts'

async function choose(name: string, sessionId: string | null): Promise<void> {
  const done = await attempt('Could not choose the model', async () => {
    if (sessionId === null) await changeSettings({ model: name })
    else await openSession(sessionId).controller.configure({ model: name })
    return true
  })
  if (done) prefer({ 'models.recent': withRecent(usePreferences.getState()['models.recent'], name, 8) })
}

export function ModelDialog({ of = 'session' }: { of?: 'session' | 'default' | undefined }) {
  const providers = useWorkbench((state) => state.providers)
  const loading = useWorkbench(({ providersLoading }) => providersLoading)
  const recent = usePreference('models.recent')
  const sessionId = useWindow((state) => (of === 'default' ? null : state.sessionId))
  const fallback = useSetting('model')
  const ofSession = sessionId === null ? null : openSession(sessionId).store.getState().view?.header.model
  const current = ofSession ?? fallback
  const [text, setText] = useState('')
  const query = text.trim()

  // What is known shows at once; it is asked for again meanwhile and changes in place.
  useEffect(() => void loadProviders(), [])

  const all = useMemo(
    () =>
      providers.flatMap((provider) =>
        provider.models.map((model) => ({ provider, model, name: modelName(provider.id, model.name) })),
      ),
    [providers],
  )
  const recentOnes =
    query === '' ? recent.flatMap((name) => all.find((one) => one.name === name) ?? []).slice(0, 4) : []
  const groups = providers.map((provider) => ({
    provider,
    models: all.filter(
      (one) =>
        one.provider === provider && (query === '' || fuzzyMatch(`${one.model.label} ${one.name}`, query) !== null),
    ),
  }))
  const none = groups.every(({ models }) => models.length === 0)

  const pick = (name: string) => {
    flushSync(() => showDialog(null))
    void choose(name, sessionId)
  }
  return (
    <Dialog open onOpenChange={() => showDialog(null)} title="Choose model" bare width={620}>
      <List
        label="Choose model"
        shouldFilter={false}
        loop
        defaultValue={current ?? ''}
        className="flex min-h-0 grow flex-col"
      >
        <List.Input
          value={text}
          onValueChange={setText}
          placeholder={sessionId === null ? 'Model of new sessions' : 'Model of the next turn'}
          className="h-44 shrink-0 border-b border-line bg-transparent px-16 text-14 outline-none placeholder:text-faint"
        />
        <List.List className="min-h-0 grow overflow-y-auto overscroll-contain p-6 [scrollbar-width:thin]">
          {loading === 'loading' && all.length === 0 && <Skeleton label="Loading models" />}
          {typeof loading === 'object' && (
            <p role="alert" className="p-12 text-13 text-muted">
              {loading.message} {loading.hint}
            </p>
          )}
          {loading === 'ready' && none && (
            <p className="p-24 text-center text-13 text-muted">
              {query === '' ? 'No model is connected yet.' : 'No model has that name.'}
            </p>
          )}
          {recentOnes.length > 0 && (
            <List.Group heading="Recent" className={heading}>
              {recentOnes.map((one) => (
                <ModelRow
                  key={one.name}
                  {...one}
                  value={`recent ${one.name}`}
                  query=""
                  current={one.name === current}
                  onPick={pick}
                />
              ))}
            </List.Group>
          )}
          {groups.map(({ provider, models }) =>
            models.length === 0 && (query !== '' || provider.state === 'off') ? null : (
              <List.Group key={provider.id} heading={<ProviderHeading provider={provider} />} className={heading}>
                {models.map((one) => (
                  <ModelRow
                    key={one.name}
                    {...one}
                    value={one.name}
                    query={query}
                    current={one.name === current}
                    onPick={pick}
                  />
                ))}
              </List.Group>
            ),
          )}
        </List.List>
        <footer className="flex shrink-0 justify-end border-t border-line px-8 py-6">
          <Button variant="ghost" size="small" onClick={() => showDialog({ kind: 'settings', page: 'models' })}>
            <Settings2 size={13} strokeWidth={1.75} aria-hidden />
            Connect and manage models
          </Button>
        </footer>
      </List>
    </Dialog>
  )
}

const heading =
  '[&_[cmdk-group-heading]]:px-10 [&_[cmdk-group-heading]]:pt-8 [&_[cmdk-group-heading]]:pb-4 [&_[cmdk-group-heading]]:text-11 [&_[cmdk-group-heading]]:font-medium [&_[cmdk-group-heading]]:text-faint'

function ProviderHeading({ provider }: { provider: ProviderEntry }) {
  const problem =
    provider.state === 'ready'
      ? null
      : provider.state === 'needs_key'
        ? 'needs a key'
        : provider.state === 'off'
          ? 'not running'
          : 'cannot be reached'
  return (
    <span className="flex gap-6">
      {shownText(provider.label)}
      {problem && <span className="font-normal text-needs">{problem}</span>}
    </span>
  )
}

type ModelRowProps = {
  provider: ProviderEntry
  model: ModelEntry
  name: string
  value: string
  query: string
  current: boolean
  onPick: (name: string) => void
}

function ModelRow({ provider, model, name, value, query, current, onPick }: ModelRowProps) {
  const ready = provider.state === 'ready'
  const match = query === '' ? null : fuzzyMatch(model.label, query)
  return (
    <List.Item
      value={value}
      disabled={!ready}
      onSelect={() => onPick(name)}
      className="flex h-32 cursor-default items-center gap-8 rounded-6 px-10 text-13 select-none data-[selected=true]:bg-selected aria-disabled:text-faint"
    >
      <span className="grid w-14 shrink-0 place-items-center">
        {current && <Check size={14} strokeWidth={2} role="img" aria-label="Current" />}
      </span>
      <span className="min-w-0 grow truncate" title={name}>
        <Marked text={shownText(model.label)} ranges={match?.ranges ?? []} />
      </span>
      {model.vision === true && (
        <Eye size={13} strokeWidth={1.75} role="img" aria-label="Sees images" className="shrink-0 text-faint" />
      )}
      {model.tools === true && (
        <Wrench size={13} strokeWidth={1.75} role="img" aria-label="Uses tools" className="shrink-0 text-faint" />
      )}
      {model.tools === false && <span className="shrink-0 text-11 text-needs">no tools</span>}
      <span className="figures w-104 shrink-0 text-right text-11 text-faint">
        {model.price ? `$${model.price.input} / $${model.price.output}` : 'price unknown'}
      </span>
      <span
        className="figures w-64 shrink-0 text-right text-11 text-muted"
        title={
          model.contextLengthSource === 'assumed' ? 'Assumed: the provider does not say' : 'Context length in tokens'
        }
      >
        {tokensText(model.contextLength)}
        {model.contextLengthSource === 'assumed' && '?'}
      </span>
    </List.Item>
  )
}
