import { createContext, use } from 'react'

/** Whether this window may change anything. Where it only watches, controls that act are not there at all (S-31). */
export const MayAct = createContext(true)

export function useMayAct(): boolean {
  return use(MayAct)
}

/** Of a control: it changes something, so it is there only where that can be done. */
export type Acts = { acts?: boolean | undefined }
