import { failure } from '../state/link.ts'
import { toast } from '../ui/toast.tsx'

/** Does what a person asked for; a refusal is told in a toast, `what` first: "Could not rename the session". */
export async function attempt<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (thrown) {
    const { message, hint } = failure(thrown)
    toast.failed(what, { detail: [message, hint].filter(Boolean).join(' ') })
    return undefined
  }
}
