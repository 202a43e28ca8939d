/** Agents of the person's own and of the folder in view: what they are, what is wrong with them, where their files are. */
import { Bot, Copy, FileText, FolderOpen } from 'lucide-react'
import type { AgentEntry } from '../../../preload/contract/agents.ts'
import { useAgents } from '../../state/agent-store.ts'
import { client } from '../../state/link.ts'
import { useView } from '../../state/session-store.ts'
import { openFile, showDialog, useWindow } from '../../state/window-store.ts'
import { useWorkbench } from '../../state/workbench-store.ts'
import { shownText } from '../../transcript/shown-text.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { approvalModes } from '../approval-modes.ts'
import { attempt } from '../attempt.ts'
import { Section } from './setting-row.tsx'

const example = `---
description: Looks for mistakes and changes nothing
mode: read-only
tools: [read_file, list_dir, find_files, grep]
---

Review the changes of this branch. Name each mistake with its file and line.`

export function AgentsPage() {
  const sessionId = useWindow((state) => state.sessionId)
  return sessionId === null ? <Agents folder="" /> : <AgentsOfSession sessionId={sessionId} />
}

function AgentsOfSession({ sessionId }: { sessionId: string }) {
  return <Agents folder={useView(sessionId, ({ header }) => header.workspace, '')} />
}

function Agents({ folder }: { folder: string }) {
  const agents = useAgents(folder)
  return (
    <>
      <p className="text-13 text-muted">
        An agent is a Markdown file: who it is for stands in its front matter, how it works in the text below. It can
        name a model and narrow mode and tools; the built-in agent needs no file. Put yours into <code>agents</code> of
        the data folder, or those of a project into its <code>.lathe/agents</code>.
      </p>
      {agents.length === 0 ? (
        <EmptyState
          icon={Bot}
          title="No agents yet"
          detail="The built-in agent does all turns."
          className="h-auto! py-24"
        />
      ) : (
        <ul aria-label="Agents" className="flex flex-col divide-y divide-line rounded-8 border border-line">
          {agents.map((agent) => (
            <AgentRow key={agent.name} agent={agent} folder={folder} />
          ))}
        </ul>
      )}
      <Section title="For example, review.md">
        <pre className="overflow-x-auto rounded-8 border border-line bg-sunken px-12 py-8 font-mono text-12">
          {example}
        </pre>
      </Section>
    </>
  )
}

function AgentRow({ agent, folder }: { agent: AgentEntry; folder: string }) {
  const { name, description, origin, model, effort, mode, tools, problem } = agent
  const facts = [model, effort && `effort ${effort}`, tools?.join(', ')].filter(Boolean).join(' · ')
  return (
    <li className="flex items-center gap-10 px-12 py-8">
      <div className="min-w-0 grow">
        <p className="flex items-center gap-6 text-13">
          <span className="truncate font-medium">{shownText(name)}</span>
          {origin === 'workspace' && <Badge>this folder</Badge>}
          {mode && <Badge tone="accent">{approvalModes[mode].label}</Badge>}
          {problem !== null && <Badge tone="failed">cannot be used</Badge>}
        </p>
        <p className={problem === null ? 'text-12 text-muted' : 'text-12 text-failed'}>
          {shownText(problem ?? description)}
        </p>
        {facts !== '' && <p className="truncate font-mono text-11 text-faint">{shownText(facts)}</p>}
      </div>
      <AgentFile agent={agent} folder={folder} />
    </li>
  )
}

/** A file of the folder opens in the tab Files; the person's own is shown where the desktop can, else its path is copied. */
function AgentFile({ agent: { name, path, place }, folder }: { agent: AgentEntry; folder: string }) {
  const canReveal = useWorkbench(({ info }) => info?.capabilities.includes('reveal') ?? false)
  const icon = { size: 13, strokeWidth: 1.75, 'aria-hidden': true } as const
  if (place !== null)
    return (
      <Button
        size="small"
        aria-label={`Open the file of ${name}`}
        onClick={() => (showDialog(null), openFile(folder, place))}
      >
        <FileText {...icon} /> Open
      </Button>
    )
  if (canReveal)
    return (
      <Button
        size="small"
        aria-label={`Show the file of ${name}`}
        onClick={() => void attempt('Could not show the file', () => client().host.reveal({ path }))}
      >
        <FolderOpen {...icon} /> Show
      </Button>
    )
  return (
    <Button
      size="small"
      aria-label={`Copy the path of ${name}`}
      onClick={() => void attempt('Could not copy', () => navigator.clipboard.writeText(path))}
    >
      <Copy {...icon} /> Copy path
    </Button>
  )
}
