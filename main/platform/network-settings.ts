/** What the person set about the network in `config.json` (Z-17, Z-25, Z-26). */
import type { ConfigContent } from './config.ts'
import type { NetworkSettings } from './network-policy.ts'

export function networkSettings(content: ConfigContent): NetworkSettings {
  const proxy = content['network.proxy']
  return {
    allow: entries(content['network.allow']),
    deny: entries(content['network.deny']),
    proxy: typeof proxy === 'string' && URL.canParse(proxy) ? proxy : null,
    proxyResolves: content['network.proxyResolves'] === true,
  }
}

function entries(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string').map((entry) => entry.trim()) : []
}
