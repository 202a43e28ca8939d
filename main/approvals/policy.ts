/**
 * May this call run? Judged on what a call would touch, by deny rules, what is never automatic, ask rules, allow rules
 * and the mode's table, in that order (Z-80, Z-84). Pure, so the actor can judge again in the step that starts a call.
 */
import type { ErrorCode } from '../../preload/contract/errors.ts'
import type { Rule, RuleMatch } from '../../preload/contract/items.ts'
import type { ApprovalMode } from '../../preload/contract/session.ts'
import type { Effect } from '../tools/tool.ts'

export type Verdict =
  | { verdict: 'allow'; by: 'mode' | 'rule' }
  | { verdict: 'ask'; reason: string; rules: RuleMatch[]; notStorable?: string }
  | { verdict: 'deny'; code: ErrorCode; reason: 'rule' | 'mode' | 'forbidden'; message: string }

export type PolicyContext = { tool: string; mode: ApprovalMode; rules: readonly Rule[]; workspace: string }

type Answer = 'allow' | 'ask' | 'deny'

/** Judges every effect by itself; the strictest answer is the call's. So no part of a compound command rides on another. */
export function judge(effects: readonly Effect[], context: PolicyContext): Verdict {
  const asking: { effect: Effect; reason: string }[] = []
  let byRule = false
  for (const effect of effects) {
    if (effect.kind === 'forbidden')
      return { verdict: 'deny', code: 'command.forbidden', reason: 'forbidden', message: effect.reason }
    const matching = context.rules.filter((rule) => applies(rule, effect, context))
    if (matching.some((rule) => rule.effect === 'deny')) {
      return {
        verdict: 'deny',
        code: 'policy.denied',
        reason: 'rule',
        message: `A rule denies this: ${describe(effect)}.`,
      }
    }
    const never = neverAutomatic(effect, matching)
    const answer = modeAnswer(effect, context.mode, never !== null)
    if (answer === 'deny') {
      return {
        verdict: 'deny',
        code: deniedCode(effect),
        reason: 'mode',
        message: `Mode "${context.mode}" does not allow this: ${describe(effect)}.`,
      }
    }
    if (never) asking.push({ effect, reason: never })
    else if (matching.some((rule) => rule.effect === 'ask'))
      asking.push({ effect, reason: `A rule asks first: ${describe(effect)}.` })
    else if (matching.some((rule) => rule.effect === 'allow')) byRule = true
    else if (answer === 'ask') asking.push({ effect, reason: reasonToAsk(effect) })
  }
  if (asking.length === 0) return { verdict: 'allow', by: byRule ? 'rule' : 'mode' }
  const reasons = [...new Set(asking.map((one) => one.reason))]
  const notStorable = asking.map((one) => whyNotStorable(one.effect)).find((why) => why !== null)
  return {
    verdict: 'ask',
    reason: reasons.slice(0, 4).join(' '),
    rules: notStorable ? [] : uniqueMatches(asking.map((one) => offeredRule(one.effect, context))),
    ...(notStorable ? { notStorable } : {}),
  }
}

/** The mode's table (Z-80). */
function modeAnswer(effect: Effect, mode: ApprovalMode, never: boolean): Answer {
  if (effect.kind === 'none' || effect.kind === 'person') return 'allow'
  if (never) return mode === 'read-only' ? 'deny' : 'ask'
  const row = (readOnly: Answer, ask: Answer, edits: Answer): Answer =>
    mode === 'read-only' ? readOnly : mode === 'ask' ? ask : mode === 'edits' ? edits : 'allow'
  switch (effect.kind) {
    case 'read':
      return effect.inside && !effect.secret ? 'allow' : row('deny', 'ask', 'ask')
    case 'write':
      if (!effect.inside || effect.change === 'delete' || effect.protected || effect.secret)
        return row('deny', 'ask', 'ask')
      return row('deny', 'ask', 'allow')
    case 'input':
      return row('deny', 'ask', 'ask')
    case 'command':
      return effect.readOnly ? 'allow' : row('deny', 'ask', 'ask')
    case 'network':
      return row('deny', 'ask', 'ask')
    case 'forbidden':
      return 'deny'
  }
}

/** Why it asks in every mode (Z-88): what no rule may allow, and this computer's own servers without a rule for them. */
function neverAutomatic(effect: Effect, matching: readonly Rule[]): string | null {
  if (effect.kind === 'command') return effect.neverAutomatic ?? null
  if (effect.kind !== 'network' || !effect.loopback) return null
  const named = matching.some((rule) => rule.effect === 'allow' && rule.match.host !== undefined)
  return named ? null : `It contacts a server on this computer, ${effect.host}:${effect.port}.`
}

function deniedCode(effect: Effect): ErrorCode {
  if (effect.kind === 'read' || effect.kind === 'write') {
    if (effect.secret) return 'path.secret'
    if (effect.kind === 'write' && effect.protected) return 'path.protected'
    if (!effect.inside) return 'path.outside_workspace'
  }
  return 'policy.denied'
}

function whyNotStorable(effect: Effect): string | null {
  if (effect.kind !== 'command') return null
  if (effect.neverAutomatic) return 'This always asks.'
  if (effect.opaque) return `Nothing can be remembered for it: ${effect.opaque}`
  if (effect.words.includes(null)) return 'Nothing can be remembered for it: a part of it is only known when it runs.'
  return null
}

/** The very rule a wider scope would store (Z-87): the exact words of a command, the workspace for plain edits, else the exact path or host. */
function offeredRule(effect: Effect, context: PolicyContext): RuleMatch {
  switch (effect.kind) {
    case 'command':
      return { tool: 'shell', command: effect.words.filter((word) => word !== null) }
    case 'read':
      return { path: { glob: effect.path, access: 'read' } }
    case 'write':
      return { path: { glob: isPlainEdit(effect) ? `${context.workspace}/**` : effect.path, access: 'write' } }
    case 'network':
      return { host: effect.loopback ? `${effect.host}:${effect.port}` : effect.host }
    default:
      return { tool: context.tool }
  }
}

function isPlainEdit(effect: Extract<Effect, { kind: 'write' }>): boolean {
  return effect.inside && effect.change !== 'delete' && !effect.protected && !effect.secret
}

function uniqueMatches(matches: RuleMatch[]): RuleMatch[] {
  const seen = new Set<string>()
  return matches.filter((match) => {
    const key = JSON.stringify(match)
    return seen.has(key) ? false : (seen.add(key), true)
  })
}

/** All given parts of a rule must fit (Z-81). */
function applies(rule: Rule, effect: Effect, context: PolicyContext): boolean {
  if (rule.scope === 'workspace' && rule.workspace !== context.workspace) return false
  const { tool, command, path, host } = rule.match
  if (tool !== undefined && tool !== context.tool) return false
  if (command !== undefined) {
    if (effect.kind !== 'command' || effect.opaque || effect.words.includes(null)) return false
    return fitsWords(command, effect.words as string[])
  }
  if (path !== undefined) {
    if (effect.kind !== path.access) return false
    // A whole folder allowed says nothing of deleting in it, or of what is protected or secret there.
    const plain = effect.kind === 'read' ? !effect.secret : isPlainEdit(effect)
    if (rule.effect === 'allow' && !plain) return path.glob === effect.path
    return fitsGlob(path.glob, effect.path)
  }
  if (host !== undefined) return effect.kind === 'network' && fitsHost(host, effect)
  return tool !== undefined
}

/** Literal words, `*` for one word, `**` at the end for the rest (Z-82). */
function fitsWords(pattern: readonly string[], words: readonly string[]): boolean {
  const open = pattern.at(-1) === '**'
  const fixed = open ? pattern.slice(0, -1) : pattern
  if (open ? words.length < fixed.length : words.length !== fixed.length) return false
  return fixed.every((want, at) => want === '*' || want === words[at])
}

/** `*` within one folder, `**` over folders; everything else is literal. */
function fitsGlob(glob: string, path: string): boolean {
  if (glob === path) return true
  const source = glob
    .split(/(\*\*|\*)/)
    .map((part) => (part === '**' ? '.*' : part === '*' ? '[^/]*' : part.replace(/[.+?^${}()|[\]\\]/g, '\\$&')))
    .join('')
  return new RegExp(`^${source}$`, 's').test(path)
}

/** `host`, `host:port` or `*.host` (subdomains only); loopback needs the port (Z-83). */
function fitsHost(pattern: string, effect: Extract<Effect, { kind: 'network' }>): boolean {
  if (pattern === `${effect.host}:${effect.port}`) return true
  if (effect.loopback) return false
  return pattern.startsWith('*.') ? effect.host.endsWith(pattern.slice(1)) : pattern === effect.host
}

function reasonToAsk(effect: Effect): string {
  switch (effect.kind) {
    case 'read':
      return effect.secret ? `${effect.path} may hold secrets.` : `${effect.path} is outside the workspace.`
    case 'write':
      if (!effect.inside) return `${effect.path} is outside the workspace.`
      if (effect.protected) return `${effect.path} is protected.`
      if (effect.change === 'delete') return `It deletes ${effect.path}.`
      return 'It changes files.'
    case 'command':
      return effect.opaque ? `It cannot be checked: ${effect.opaque}` : `It runs “${effect.text}”.`
    case 'network':
      return `It contacts ${effect.host}.`
    case 'input':
      return `It types “${effect.text}” into a program.`
    default:
      return 'It needs your consent.'
  }
}

function describe(effect: Effect): string {
  switch (effect.kind) {
    case 'read':
      return `reading ${effect.path}`
    case 'write':
      return `${effect.change === 'delete' ? 'deleting' : 'changing'} ${effect.path}`
    case 'command':
      return `running "${effect.text}"`
    case 'network':
      return `contacting ${effect.host}`
    case 'input':
      return 'typing into a program'
    default:
      return 'this call'
  }
}
