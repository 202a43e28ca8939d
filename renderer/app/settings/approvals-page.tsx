import { ShieldCheck, Trash2 } from 'lucide-react'
import type { Rule } from '../../../preload/contract/items.ts'
import { ruleText } from '../../approvals/rule-text.ts'
import { act, client } from '../../state/link.ts'
import { useWorkbench } from '../../state/workbench-store.ts'
import { shownText } from '../../transcript/shown-text.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { IconButton } from '../../ui/icon-button.tsx'
import { RelativeTime } from '../../ui/relative-time.tsx'
import { attempt } from '../attempt.ts'

const effects: Record<Rule['effect'], { word: string; tone: Tone }> = {
  allow: { word: 'Allow', tone: 'ok' },
  ask: { word: 'Ask', tone: 'needs' },
  deny: { word: 'Deny', tone: 'failed' },
}

const scopeText = (rule: Rule) =>
  rule.scope === 'always'
    ? 'everywhere'
    : rule.scope === 'session'
      ? 'in one session'
      : `in ${rule.workspace ?? 'one folder'}`

export function ApprovalsPage() {
  const rules = useWorkbench((state) => state.rules)
  if (rules.length === 0)
    return (
      <EmptyState
        icon={ShieldCheck}
        title="No rules yet"
        detail="“Always allow” on an approval stores one. It shows here and can be removed."
        className="h-auto py-48"
      />
    )
  const remove = (id: string) =>
    attempt('Could not remove the rule', () => client().approvals.removeRule({ ...act(), id }))
  return (
    <ul aria-label="Approval rules" className="flex flex-col divide-y divide-line rounded-8 border border-line">
      {rules.map((rule) => (
        <li key={rule.id} className="flex items-center gap-10 px-12 py-8">
          <Badge tone={effects[rule.effect].tone}>{effects[rule.effect].word}</Badge>
          <div className="min-w-0 grow">
            <p className="font-mono text-12 break-words">{shownText(ruleText(rule.match, rule.workspace))}</p>
            <p className="truncate text-11 text-muted">
              {shownText(scopeText(rule))} · {rule.by === 'policy' ? 'set by policy' : 'by you'} ·{' '}
              <RelativeTime at={rule.at} />
            </p>
          </div>
          {rule.by === 'person' && (
            <IconButton
              icon={Trash2}
              label={`Remove rule: ${shownText(ruleText(rule.match, rule.workspace))}`}
              size="small"
              onClick={() => void remove(rule.id)}
            />
          )}
        </li>
      ))}
    </ul>
  )
}
