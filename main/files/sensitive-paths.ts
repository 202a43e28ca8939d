/** Files that ask before they are read or written even inside the workspace, and stores of credentials outside (Z-45, Z-47). */
import { join, sep } from 'node:path'
import { pathKey } from './path-spelling.ts'

/** Instruction files, by name (C-18). */
const instructionFileNames = ['AGENTS.md', 'CLAUDE.md', 'GEMINI.md', '.rules', '.cursorrules'] as const

const protectedFolders = new Set(['.git', '.lathe', '.husky'])
const protectedNames = new Set(['.envrc', ...instructionFileNames.map((name) => name.toLowerCase())])
const protectedEnds = ['.vscode/tasks.json', '.github/copilot-instructions.md']

/** Whether writing the file at this path below a root asks (Z-45). Case is ignored: on some disks `.GIT` is `.git`. */
export function isProtected(belowRoot: string): boolean {
  const path = belowRoot.replaceAll(sep, '/').toLowerCase()
  const segments = path.split('/')
  if (segments.some((segment) => protectedFolders.has(segment))) return true
  return (
    protectedNames.has(segments.at(-1) ?? '') || protectedEnds.some((end) => path === end || path.endsWith(`/${end}`))
  )
}

const secretName =
  /^(\.env|\.env\..+(?<!\.example)|.*\.pem|.*\.key|id_rsa.*|id_ed25519.*|\.npmrc|\.netrc|\.pypirc|.*\.kdbx|credentials.*\.json)$/i

/** Whether a file of this name holds secrets (Z-47). */
export function isSecretName(name: string): boolean {
  return secretName.test(name)
}

/** The names of Z-47 as globs without case, for a search program that cannot be told to ignore it. */
export const secretGlobs = [
  '.env',
  '.env.*',
  '*.pem',
  '*.key',
  'id_rsa*',
  'id_ed25519*',
  '.npmrc',
  '.netrc',
  '.pypirc',
  '*.kdbx',
  'credentials*.json',
].map((glob) => glob.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`))

const credentialFolders = [
  '.ssh',
  '.aws',
  '.gnupg',
  '.config/gcloud',
  '.kube',
  '.docker',
  '.password-store',
  '.local/share/keyrings',
  '.mozilla',
  '.config/google-chrome',
  '.config/chromium',
  '.config/BraveSoftware',
  '.config/microsoft-edge',
  'Library/Keychains',
  'Library/Application Support/Google/Chrome',
  'Library/Application Support/Firefox',
  'Library/Application Support/BraveSoftware',
  'Library/Safari',
  'Library/Cookies',
  'AppData/Local/Google/Chrome',
  'AppData/Local/Microsoft/Edge',
  'AppData/Local/Microsoft/Credentials',
  'AppData/Roaming/Mozilla',
  'AppData/Roaming/Microsoft/Credentials',
  'AppData/Roaming/Microsoft/Protect',
]

/** Folders that hold credentials of the person whose home this is (Z-47). */
export function credentialStores(home: string): string[] {
  return credentialFolders.map((folder) => join(home, folder))
}

/** Whether a real path lies in one of them; case is ignored, to be on the safe side. */
export function isCredentialStore(real: string, home: string): boolean {
  const key = pathKey(real, true)
  return credentialStores(home).some((store) => isWithin(key, pathKey(store, true)))
}

/** Equal to the folder or below it, segment by segment (F-103). */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}
