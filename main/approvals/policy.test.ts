import { describe, expect, test } from 'vitest'
import type { Rule, RuleMatch } from '../../preload/contract/items.ts'
import type { ApprovalMode } from '../../preload/contract/session.ts'
import type { Effect } from '../tools/tool.ts'
import { judge } from './policy.ts'

const page = (host: string, more: { port?: number; loopback?: boolean } = {}): Effect => ({
  kind: 'network',
  host,
  port: more.port ?? 443,
  loopback: more.loopback ?? false,
})
const here = page('localhost', { port: 3000, loopback: true })
const rule = (effect: Rule['effect'], match: RuleMatch): Rule => ({
  id: 'r',
  effect,
  match,
  scope: 'always',
  by: 'person',
  at: 1,
})
const verdict = (effect: Effect, mode: ApprovalMode, ...rules: Rule[]) =>
  judge([effect], { tool: 'web_fetch', mode, rules, workspace: '/w' })

describe('the web', () => {
  test.each<[ApprovalMode, string, string]>([
    ['read-only', 'deny', 'deny'],
    ['ask', 'ask', 'ask'],
    ['edits', 'ask', 'ask'],
    ['all', 'allow', 'ask'],
  ])('Z-80 Z-18 Z-88 in mode %s a public host is %s, a server of this computer %s', (mode, outside, local) => {
    expect(verdict(page('docs.test'), mode).verdict).toBe(outside)
    expect(verdict(here, mode).verdict).toBe(local)
  })

  test('Z-83 Z-88 a server of this computer may be remembered with its port, and only its own rule allows it', () => {
    const asking = verdict(here, 'all')
    expect(asking).toMatchObject({ verdict: 'ask', rules: [{ host: 'localhost:3000' }] })
    expect(asking).not.toHaveProperty('notStorable')
    expect(verdict(here, 'all', rule('allow', { host: 'localhost:3000' })).verdict).toBe('allow')
    expect(verdict(here, 'all', rule('allow', { host: 'localhost:3001' })).verdict).toBe('ask')
    expect(verdict(here, 'all', rule('allow', { host: 'localhost' })).verdict).toBe('ask')
    expect(verdict(here, 'all', rule('allow', { tool: 'web_fetch' })).verdict).toBe('ask')
    expect(verdict(here, 'read-only', rule('allow', { host: 'localhost:3000' })).verdict).toBe('deny')
  })

  test('Z-83 Z-84 a host, a host with its port, the names below it; a deny anywhere wins', () => {
    const allowed = (host: string, pattern: string) =>
      verdict(page(host), 'ask', rule('allow', { host: pattern })).verdict
    expect(allowed('docs.test', 'docs.test')).toBe('allow')
    expect(allowed('docs.test', 'docs.test:443')).toBe('allow')
    expect(allowed('docs.test', 'docs.test:80')).toBe('ask')
    expect(allowed('a.docs.test', '*.docs.test')).toBe('allow')
    expect(allowed('docs.test', '*.docs.test')).toBe('ask')
    expect(allowed('evildocs.test', '*.docs.test')).toBe('ask')
    const both = [rule('allow', { host: 'docs.test' }), rule('deny', { host: 'docs.test' })]
    expect(verdict(page('docs.test'), 'all', ...both)).toMatchObject({ verdict: 'deny', reason: 'rule' })
  })
})
