import { createContext, useContext } from 'react'

/** The session that the rows below belong to. */
const SessionId = createContext('')
export const SessionIdProvider = SessionId.Provider

export function useSessionId(): string {
  return useContext(SessionId)
}
