/** What a turn is admitted with (T-18): its model and its agent, each as asked for, the session's, or the default. */
import type { AgentEntry } from '../../preload/contract/agents.ts'
import { builtInAgent } from '../../preload/contract/agents.ts'
import { errorBody, LatheError } from '../../preload/contract/errors.ts'
import type { SessionHeader } from '../../preload/contract/session.ts'
import { type AgentFiles, type ChosenAgent, unusable } from '../agent/agent-files.ts'
import type { Message } from '../turns/inputs.ts'

export type ChoicePorts = {
  /** The canonical model for a turn. Throws `model.none`, `model.unknown`, `config.invalid`. */
  chooseModel(name: string | null): string
  agents: Pick<AgentFiles, 'read'>
}

/** Ports that can also say which agents there are. */
export type AgentPorts = ChoicePorts & { agents: Pick<AgentFiles, 'list'> }

type Choosing = Pick<SessionHeader, 'model' | 'agent' | 'workspace'>

/**
 * The choice for a turn of a session. The session's own model goes before its agent's. An agent that cannot be used is no
 * refusal: the turn is admitted and fails by its name (T-160). Throws what choosing the model throws.
 */
export async function choiceOfTurn(
  ports: ChoicePorts,
  asked: { model?: string | undefined; agent?: string | null | undefined },
  session: Choosing,
): Promise<Pick<Message, 'model' | 'replaced' | 'agent'>> {
  const name = asked.agent === undefined ? (session.agent ?? null) : asked.agent
  const agent = name === null ? null : await chosenAgent(ports, name, session.workspace)
  const wanted = agent && 'model' in agent && session.model === null ? (agent.model ?? undefined) : undefined
  const chosen = modelOfTurn(ports.chooseModel, asked.model ?? wanted, session.model)
  return agent ? { ...chosen, agent } : chosen
}

/** An agent as it is now, or why it cannot be used. */
export async function chosenAgent(ports: ChoicePorts, name: string, workspace: string): Promise<ChosenAgent> {
  try {
    const agent = await ports.agents.read(name, workspace)
    if (agent.model !== null) checkModel(ports, name, agent.model)
    return agent
  } catch (error) {
    return { name, problem: errorBody(error) }
  }
}

function checkModel({ chooseModel }: ChoicePorts, name: string, model: string): void {
  try {
    chooseModel(model)
  } catch (error) {
    throw unusable(name, `Its model: ${errorBody(error).message}`)
  }
}

/**
 * `replaced` names the session's own choice where it is no longer configured: the default answers, and the admission
 * clears the choice and says so (M-25). Throws what `choose` throws for anything else.
 */
export function modelOfTurn(
  choose: (name: string | null) => string,
  asked: string | undefined,
  chosen: string | null,
): { model: string; replaced?: string } {
  if (asked !== undefined || chosen === null) return { model: choose(asked ?? null) }
  try {
    return { model: choose(chosen) }
  } catch (error) {
    if (!(error instanceof LatheError && error.code === 'model.unknown')) throw error
    return { model: choose(null), replaced: chosen }
  }
}

/**
 * What choosing an agent sets in a session: the model and effort it names take the place of those chosen before, until the
 * person chooses again. Throws `request.invalid` with the names there are, and `config.invalid` for one that is broken (S-8).
 */
export async function agentSettings(
  ports: AgentPorts,
  name: string | null,
  workspace: string,
): Promise<{ agent: string | null; model?: null; effort?: null }> {
  if (name === null || name === builtInAgent) return { agent: null }
  const known = await ports.agents.list(workspace)
  const found =
    known.find((one) => one.name === name) ?? known.find((one) => one.name.toLowerCase() === name.toLowerCase())
  if (!found)
    throw new LatheError('request.invalid', `There is no agent "${name}" here.`, {
      hint: `There are ${agentNames(known)}.`,
    })
  const agent = await chosenAgent(ports, found.name, workspace)
  if ('problem' in agent) throw new LatheError(agent.problem.code, agent.problem.message, agent.problem)
  return {
    agent: agent.name,
    ...(agent.model === null ? {} : { model: null }),
    ...(agent.effort === null ? {} : { effort: null }),
  }
}

/** For people: the built-in one first. */
export function agentNames(known: readonly AgentEntry[]): string {
  return [builtInAgent, ...known.map(({ name }) => name)].join(', ')
}
