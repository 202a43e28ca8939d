/** Per model: after repeated failures background work stops asking for a while (M-83). Times in milliseconds. */
type Circuit = { state: 'closed' | 'open' | 'probing'; failures: number[]; openUntil: number; openFor: number }

const limit = 5
const within = 120_000
const firstPause = 30_000
const longestPause = 300_000

export class Circuits {
  readonly #circuits = new Map<string, Circuit>()

  /** Whether to ask, ask as the one probe, or wait until a time. A person's own turn is always let through as a probe. */
  admit(model: string, interactive: boolean, now: number): 'ask' | 'probe' | { openUntil: number } {
    const circuit = this.#circuits.get(model)
    if (!circuit || circuit.state === 'closed') return 'ask'
    if (!interactive && (circuit.state === 'probing' || now < circuit.openUntil))
      return { openUntil: Math.max(circuit.openUntil, now) }
    circuit.state = 'probing'
    return 'probe'
  }

  succeeded(model: string): void {
    this.#circuits.delete(model)
  }

  /** True where the circuit is open now. */
  failed(model: string, now: number): boolean {
    const circuit = this.#circuits.get(model) ?? { state: 'closed', failures: [], openUntil: 0, openFor: 0 }
    this.#circuits.set(model, circuit)
    if (circuit.state === 'probing') open(circuit, Math.min(circuit.openFor * 2, longestPause), now)
    else {
      circuit.failures = [...circuit.failures.filter((at) => now - at < within), now]
      if (circuit.state === 'closed' && circuit.failures.length >= limit) open(circuit, firstPause, now)
    }
    return circuit.state === 'open'
  }

  /** A probe that was stopped, or failed for a reason that does not count, proves nothing. */
  unproven(model: string): void {
    const circuit = this.#circuits.get(model)
    if (circuit?.state === 'probing') circuit.state = 'open'
  }
}

function open(circuit: Circuit, pause: number, now: number): void {
  circuit.state = 'open'
  circuit.failures = []
  circuit.openFor = pause
  circuit.openUntil = now + pause
}
