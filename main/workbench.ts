/** Builds the services of a data folder in order and disposes them in reverse; no logic of its own. */
import { homedir } from 'node:os'
import { join } from 'node:path'
import { inPlaceOf, subjectOf, type WorkbenchEvent } from '../preload/contract/events.ts'
import { newId } from '../preload/contract/ids.ts'
import { settleMs } from '../preload/contract/limits.ts'
import type { HostInfo } from '../preload/contract/workbench-routes.ts'
import { AgentFiles } from './agent/agent-files.ts'
import { commandEffects } from './approvals/shell-command.ts'
import { createEnvironment } from './exec/environment.ts'
import { ExecSessions } from './exec/exec-sessions.ts'
import { endAllProcesses } from './exec/process.ts'
import { findShell } from './exec/shell.ts'
import { createShellIntegration } from './exec/shell-integration.ts'
import { createTerminals } from './exec/terminals.ts'
import { keyVariables, readProvidersConfig, writtenKeys } from './models/config.ts'
import { createModels } from './models/models.ts'
import { Broadcast } from './platform/broadcast.ts'
import { openConfig } from './platform/config.ts'
import { CurrentRedaction } from './platform/current-redaction.ts'
import type { Log } from './platform/log.ts'
import { NetworkPolicy } from './platform/network-policy.ts'
import { networkSettings } from './platform/network-settings.ts'
import { programFolder } from './platform/program-folder.ts'
import { watchDisk } from './platform/disk-watch.ts'
import { settleAfterCrash } from './sessions/after-crash.ts'
import { Compactions } from './sessions/compactions.ts'
import { DataFolder } from './sessions/data-folder.ts'
import { DefaultModel } from './sessions/default-model.ts'
import { Forks } from './sessions/forks.ts'
import { Exports } from './sessions/exports.ts'
import { Imports } from './sessions/imports.ts'
import { execRecords, StoredLedger } from './sessions/exec-records.ts'
import { rebuildList } from './sessions/list-rebuild.ts'
import { holdsBody, isSent, reportContext, type ModelContextPorts } from './sessions/model-context.ts'
import { notificationEvent } from './sessions/notifications.ts'
import { OwnCommands } from './sessions/own-commands.ts'
import { ProviderPauses } from './sessions/provider-pauses.ts'
import { Rewinds } from './sessions/rewinds.ts'
import { RulesStore } from './sessions/rules-store.ts'
import { Sessions } from './sessions/sessions.ts'
import { SideCommands } from './sessions/side-commands.ts'
import { SettingsStore } from './sessions/settings-store.ts'
import { Slots } from './sessions/slots.ts'
import { giveTitle } from './sessions/titling.ts'
import { runAdmittedTurn } from './sessions/turn-runner.ts'
import { startUpkeep } from './sessions/upkeep.ts'
import { Workspaces } from './sessions/workspaces.ts'
import { openStorage } from './storage/open-storage.ts'
import { createSecrets, type Keychain } from './storage/secrets.ts'
import { toldWhenLost } from './storage/lost-storage.ts'
import { toldWhenSlow } from './storage/slow-commits.ts'
import type { Storage } from './storage/storage.ts'
import { createTools } from './tools/all-tools.ts'
import { allAnswers } from './transport/answers/all-answers.ts'
import type { Desktop } from './transport/answers/host-answers.ts'
import type { Handlers } from './transport/handlers.ts'
import { HostState } from './transport/host-state.ts'
import { openWorkbenchFiles } from './workbench-files.ts'

export type WorkbenchOptions = {
  /** The data folder; the caller owns it (`acquireHome`). */
  home: string
  kind: HostInfo['kind']
  version: string
  /** Identity of this host as owner of the data folder. */
  owner?: string
  desktop?: Desktop | null
  keychain?: Keychain
  log: Log
  /** A host that stays makes titles by a model; a command line that ends with its turn takes the first words. */
  lasting?: boolean
}

export type WorkbenchStatus = { runningTurns: number } & ReturnType<HostState['storage']>

export type Workbench = {
  handlers: Handlers
  sessions: Sessions
  storage: Storage
  /** What `/status` tells of it (S-140). */
  status(): WorkbenchStatus
  /** Settles what a crash left open; to be awaited before the first mutation. */
  start(): Promise<void>
  /** Draining, settling, ending processes, flushing, closing; idempotent (S-142). */
  dispose(): Promise<void>
}

export async function createWorkbench(options: WorkbenchOptions): Promise<Workbench> {
  const { home, kind, version, log, lasting = true } = options
  const now = Date.now
  const [storage, config] = await Promise.all([
    openStorage({ home, ...(options.owner === undefined ? {} : { owner: options.owner }) }),
    openConfig(join(home, 'config.json')),
  ])
  const secrets = createSecrets({ home, keychain: options.keychain, changed: () => redactions.refresh() })
  const settings = new SettingsStore(storage, () => {
    slots.fill()
    sessions.limitsChanged()
  })
  const events = new Broadcast<WorkbenchEvent>(subjectOf, inPlaceOf)
  const rules = new RulesStore(storage, (changed) => events.send({ type: 'rules.changed', rules: changed }))
  await Promise.all([settings.load(), rules.load()])
  const host = new HostState({
    fixed: { kind, version, dataFolder: home, capabilities: capabilitiesOf(options), browser: null },
    storage,
    config,
    send: (event) => events.send(event),
  })
  let providers = readProvidersConfig(config.content)
  const redactions = new CurrentRedaction({
    env: process.env,
    configured: () => ({ variables: keyVariables(providers), keys: writtenKeys(providers) }),
    stored: secrets,
  })
  await redactions.refresh()
  log.redactBy((line) => redactions.forLogs().text(line))

  const pauses = new ProviderPauses({
    storage,
    changed: () => events.send({ type: 'models.changed' }),
    ended: () => sessions.pauseEnded(),
    log: (message, fields) => log.warn(message, fields),
    now,
  })
  await pauses.load()

  config.onChange(() => {
    const before = providers
    providers = readProvidersConfig(config.content)
    pauses.reconfigured(before.providers, providers.providers)
    void redactions.refresh()
    events.send({ type: 'models.changed' })
    events.send({ type: 'settings.changed', settings: defaultModel.shownSettings() })
    host.tell()
  })
  const models = createModels({
    config: () => providers,
    secret: (provider) => secrets.get(`provider.${provider}`),
    log: (entry) => log.warn('A model request failed', entry),
  })
  const defaultModel = new DefaultModel({
    settings: () => settings.get(),
    providers: () => providers,
    models,
    config,
    storage,
  })
  const chooseModel = (name: string | null) => defaultModel.choose(name)
  const logAt = (level: 'warn' | 'error', message: string, fields: Record<string, unknown>) =>
    log[level](message, fields)

  const environment = createEnvironment({
    host: process.env,
    // Shells count themselves in SHLVL; what a desktop starts by itself has none.
    startedFromShell: process.env['SHLVL'] !== undefined && kind !== 'desktop',
    settings: () => ({ denied: keyVariables(providers), passed: names(config.content['exec.passEnv']), added: {} }),
    notice: (text) => log.warn(text),
  })
  const shellName = async (workspace: string) => {
    const env = await environment.forProgram(workspace)
    return (await findShell(env, undefined, (settings.get()['exec.shell'] ?? undefined) as never)).name
  }

  const files = openWorkbenchFiles({
    home,
    storage,
    log,
    send: (event) => events.send(event),
    workspaces: () => workspaces.list(),
    extraFolders: async (id) => (await sessions.actor(id)).peek().view.header.extraFolders,
  })
  const { paths, watched, recent, images } = files
  const spoolFolder = join(home, 'tmp', 'exec')
  const ledger = new StoredLedger(storage, ({ owner, preview }, pids) => {
    log.warn('Processes could not be ended', { owner, preview, pids })
    // A terminal's owner is no session.
    void sessions.command(owner, { type: 'exec.unreaped', preview, pids: pids.slice(0, 20) }).catch(() => {})
  })
  const exec = new ExecSessions(
    execRecords({
      sessions: () => sessions,
      storage,
      ledger,
      spoolFolder,
      redaction: () => redactions.get(),
      log: (message, fields) => log.warn(message, fields),
    }),
  )
  const network = new NetworkPolicy(() => networkSettings(config.content))
  const isTrusted = (workspace: string) => workspaces.isTrusted(workspace)
  const tools = createTools({
    subagent: (request, context) => sessions.subagents.ask(request, context),
    ...files,
    blobs: storage.blobs,
    changes: {
      watched,
      late: ({ sessionId, turnId }, changes) => void sessions.late.record(sessionId, { turnId, changes, notice: null }),
    },
    ownsOutput: (sessionId, hash) => holdsBody(storage, sessionId, hash),
    inContext: async (sessionId, callId) =>
      isSent({ id: sessionId, state: (await sessions.actor(sessionId)).peek() }, storage, callId),
    shell: {
      paths,
      environment,
      blobs: storage.blobs,
      dataFolder: home,
      spoolFolder,
      exec,
      ledger: (sessionId, command) => ledger.of(sessionId, redactions.get().text(ExecSessions.preview(command))),
      preferredShell: () => settings.get()['exec.shell'],
      isTrusted: async (workspace) => isTrusted(workspace),
      redaction: () => redactions.get(),
      network,
    },
    network,
  })
  const watchedStorage = toldWhenLost(storage, (isLost) => {
    log[isLost ? 'error' : 'info'](isLost ? 'Nothing can be stored' : 'Storage is back')
    host.storageLost(isLost)
  })
  const agents = new AgentFiles({
    home,
    isTrusted: async (workspace) => isTrusted(workspace),
    toolNames: () => tools.names,
  })
  const slots = new Slots(() => settings.get()['turns.maxConcurrent'])
  const modelContext: ModelContextPorts = {
    storage,
    isTrusted,
    tools: (current, background, depth) => tools.registry(current, background, depth),
    images,
    settings: () => settings.get(),
    shellName: (workspace) => shellName(workspace).catch(() => 'none'),
  }
  const compactions = new Compactions({
    ...modelContext,
    storage,
    models,
    chooseModel,
    agents,
    redaction: () => redactions.get(),
    now,
    log: logAt,
  })

  const sessions: Sessions = new Sessions({
    mentions: {
      path: async (place, path) => {
        const found = await paths.resolve(place, path)
        recent.note(place.workspace, found.kind === 'folder' ? `${found.shown}/` : found.shown)
        return found
      },
      terminal: async (id, lines) => {
        const shown = await terminals.text(id, lines)
        return shown && { title: redactions.get().text(shown.title), text: redactions.get().text(shown.text) }
      },
    },
    storage: {
      ...storage,
      commit: toldWhenSlow(watchedStorage.commit, (slow) => host.savingSlowly(slow)),
    },
    settings: () => settings.get(),
    rules: () => rules.get(),
    isTrusted,
    chooseModel,
    agents,
    startTurn: (actor) => {
      if (!actor.handle) return
      const { id, workspace, extraFolders } = actor.peek().view.header
      files.watching.watch(workspace)
      watched.prepare({ sessionId: id, workspace, extraFolders })
      void runAdmittedTurn(actor, actor.handle, {
        ...modelContext,
        models,
        slots,
        compactions,
        redaction: () => redactions.get(),
        now,
      })
    },
    afterSettle: (actor, turnId) => {
      const ended = async () => sessions.late.record(actor.id, { turnId, ...(await watched.turnEnded(turnId)) })
      void sessions.late.wait(actor.using(ended))
      if (actor.published.header.parent) return
      if (lasting) compactions.afterSettle(actor)
      if (!lasting || !settings.get()['titles.auto']) return
      void giveTitle(actor, {
        models: models.forTurn(),
        auxModel: providers.auxModel,
        redact: (text) => redactions.get().text(text),
      })
    },
    abortCompaction: (sessionId, jobId) => compactions.abort(sessionId, jobId),
    entryChanged: (entry) => events.send({ type: 'entry.put', entry }),
    entryRemoved: (id) => events.send({ type: 'entry.removed', id }),
    execSecret: (sessionId, execId, secret) =>
      void exec.get(sessionId, execId).then(
        (session) => session.answer(secret),
        () => {},
      ),
    changesRecorded: (ids) =>
      void files.intents
        .recorded(ids)
        .catch((error: unknown) => log.warn('An intent stays open', { error: String(error) })),
    rulesChanged: () =>
      void rules
        .reload()
        .catch((error: unknown) => log.warn('Rules could not be read again', { error: String(error) })),
    notify: (actor, effect) => {
      const event = notificationEvent(actor.published.header, effect)
      if (event) events.send(event)
    },
    pauses,
    connected: () => events.isRead,
    running: (sessionId, subagent) =>
      exec
        .list(sessionId, subagent)
        .flatMap((one) => (one.end === null ? [{ id: one.id!, preview: one.facts.preview }] : [])),
    log: logAt,
    now,
  })

  const decisionEnvironment = () => ({ now: now(), newId, settings: settings.get(), rules: rules.get() })
  const forks = new Forks({
    sessions,
    storage,
    entryChanged: (entry) => events.send({ type: 'entry.put', entry }),
    environment: decisionEnvironment,
  })
  const imports = new Imports({
    storage,
    folder: join(home, 'tmp', 'imports'),
    entryChanged: (entry) => events.send({ type: 'entry.put', entry }),
    environment: decisionEnvironment,
  })
  const exports = new Exports({ storage, sessions })
  const contextReport = async (sessionId: string) =>
    reportContext({ ...modelContext, chooseModel, agents }, (await sessions.open(sessionId)).header)
  const sideCommands = new SideCommands({
    sessions,
    forks,
    storage,
    providers: () => models.list(),
    chooseModel,
    agents,
    context: contextReport,
    version,
    uptime: () => process.uptime() * 1_000,
  })
  const rewinds = new Rewinds({ sessions, storage, now })

  const dataFolder = new DataFolder({
    home,
    storage,
    rewinds,
    checkpoints: watched,
    isBusy: () => sessions.running().length > 0,
    now,
  })

  const workspaces = new Workspaces({
    storage,
    demoSource: async () => join(await programFolder(), 'assets', 'demo-workspace'),
    // Beside the data folder, which no tool may touch.
    demoFolder: `${home}-demo`,
    changed: (workspace) => events.send({ type: 'workspace.changed', workspace }),
    busy: () => sessions.running().map(({ published }) => published.header.workspace),
    now,
  })
  await workspaces.load()
  const shellIntegration = createShellIntegration(join(home, 'shell-integration'))
  const terminals = createTerminals({
    environment,
    scrollback: () => settings.get()['terminal.scrollback'],
    profiles: () => ({ own: settings.get()['terminal.profiles'], chosen: settings.get()['terminal.profile'] }),
    integration: () => (settings.get()['terminal.shellIntegration'] ? shellIntegration : null),
    ledger: (id) => ledger.of(id, 'a terminal'),
  })
  terminals.onChange((change) => events.send({ type: 'terminal.changed', ...change }))
  const ownCommands = new OwnCommands({
    sessions,
    exec,
    environment,
    settings: () => settings.get(),
    classify: async (command, folder) =>
      commandEffects(command, {
        shell: await shellName(folder),
        folder,
        workspace: folder,
        home: homedir(),
        dataFolder: home,
        gitOnlyReads: async () => false,
        gitKnowsSecrets: async () => true,
        resolve: (absolute) => paths.resolve({ sessionId: 'person', workspace: folder, extraFolders: [] }, absolute),
      }),
    redact: (text) => redactions.get().text(text),
  })

  const handlers = allAnswers({
    storage,
    sessions,
    rewinds,
    compactions,
    forks,
    imports,
    exports,
    sideCommands,
    dataFolder,
    settings,
    defaultModel,
    workspaces,
    models,
    pauses,
    agents,
    chooseModel,
    config,
    secrets,
    terminals,
    ownCommands,
    exec,
    paths,
    program: files.program,
    differ: files.differ,
    gate: files.gate,
    files: files.services,
    events,
    stopToolCommand: (itemId) => tools.stopCommand(itemId),
    contextReport,
    rules,
    desktop: options.desktop ?? null,
    host,
    now,
  })

  const stopDiskWatch = lasting ? watchDisk(home, (free) => host.diskLeft(free)) : () => {}
  const stopUpkeep = lasting
    ? startUpkeep({ storage, rewinds, now, log: (message, fields) => log.warn(message, fields) })
    : () => {}

  const ending = new AbortController()
  let disposing: Promise<void> | null = null
  return {
    handlers,
    sessions,
    storage,
    start: async () => {
      await settleAfterCrash({ imports, intents: files.intents, ledger, sessions, log: logAt })
      if (lasting && storage.condition.kind !== 'newer')
        void rebuildList({ storage, log: (message, fields) => log.warn(message, fields), beside: ending.signal }).catch(
          (error: unknown) =>
            ending.signal.aborted || log.warn('The list of sessions could not be made anew', { error: String(error) }),
        )
      void watched.tidy().catch((error: unknown) => log.warn('Old checkpoints stay', { error: String(error) }))
      // A first start without any model has something to try at once; it is labelled as scripted wherever it shows.
      if (lasting && defaultModel.isMissing && (await storage.workspaces()).length === 0) await workspaces.openDemo()
    },
    status: () => ({
      runningTurns: sessions.running().filter(({ published }) => !published.header.parent).length,
      ...host.storage(),
    }),
    dispose: () =>
      (disposing ??= (async () => {
        ending.abort()
        stopUpkeep()
        stopDiskWatch()
        watchedStorage.stop()
        await Promise.all([sessions.close(settleMs), compactions.close()])
        await pauses.stop()
        await Promise.all([
          exec.close(),
          ...terminals.list().map((terminal) => terminals.close(terminal.id).catch(() => {})),
        ])
        await endAllProcesses()
        await sessions.late.idle(settleMs)
        await imports.close()
        exports.close()
        await files.dispose()
        config.dispose()
        await storage.close()
      })()),
  }
}

function capabilitiesOf({ desktop, keychain }: WorkbenchOptions): HostInfo['capabilities'] {
  if (!desktop) return []
  return ['open_folder_dialog', 'reveal', 'open_external', ...(keychain ? (['keychain'] as const) : []), 'windows']
}

function names(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : []
}
