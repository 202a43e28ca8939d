/** What no mode and no rule allows (Z-70): ending the machine, its disks, or everything a person has. */
import { realpath } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { programName } from './command-options.ts'
import type { Word } from './shell-words.ts'

export type ForbiddenPlaces = {
  /** Where the command may be standing. */
  folders: readonly string[]
  home: string
  dataFolder: string
  workspace: string
}

const blockDevice = /^\/dev\/(sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|loop|dm-|md|mapper\/)/

const machine = 'It would turn off or restart the machine.'
const disk = 'It would overwrite a disk.'

/** Writing to a disk as such, as a sentence; null for any other target. */
export function deviceReason(target: string): string | null {
  return blockDevice.test(target) ? `It would write to the block device ${target}.` : null
}

/** A sentence saying why the command is refused, or null. */
export async function forbiddenReason(name: string, words: Word[], places: ForbiddenPlaces): Promise<string | null> {
  const operands = words.slice(1).map((word) => word.literal ?? '')
  if (/^(shutdown|reboot|halt|poweroff)$/.test(name)) return machine
  if (name === 'systemctl' && operands.some((word) => /^(poweroff|reboot|halt|kexec)$/.test(word))) return machine
  if (/^(mkfs(\..+)?|fdisk|sfdisk|wipefs)$/.test(name)) return disk
  if (name === 'format' && /^[a-z]:/i.test(operands[0] ?? '')) return disk
  if (name === 'diskutil' && /^(erase|zero|secureErase|partition)/i.test(operands[0] ?? '')) return disk
  const device = writtenTo(name, operands).find((target) => deviceReason(target) !== null)
  if (device !== undefined) return deviceReason(device)

  const deletes = name === 'find' ? findDeletes(operands) : name === 'rm' && isRecursive(words)
  const changesRights = /^(chmod|chown|chgrp)$/.test(name) && isRecursive(words)
  if (!deletes && !changesRights) return null
  for (const word of words.slice(1)) {
    const kept = word.path === null ? null : await mustStay(word.path, places)
    if (kept === null) continue
    return deletes
      ? `It would delete ${kept} and everything in it.`
      : `It would change the rights of everything in ${kept}.`
  }
  return null
}

/** Operands a program writes to as they are, where that program is used to write to disks. */
function writtenTo(name: string, operands: string[]): string[] {
  if (name === 'dd') return operands.filter((word) => word.startsWith('of=')).map((word) => word.slice(3))
  if (/^(tee|shred|mkswap|truncate)$/.test(name)) return operands
  return /^(cp|mv|install)$/.test(name) ? operands.slice(-1) : []
}

function findDeletes(operands: string[]): boolean {
  return operands.some((word) => word === '-delete' || programName(word) === 'rm')
}

/** An option that is only known when it runs counts as one that recurses. */
function isRecursive(words: Word[]): boolean {
  const options = words.slice(1).filter((word) => word.path === null || word.path.startsWith('-'))
  return options.some(
    ({ literal }) =>
      literal === null || /^-[A-Za-z]*[rR]/.test(literal) || (literal.length > 3 && '--recursive'.startsWith(literal)),
  )
}

/** `/`, a drive, the home, the data folder, the workspace's parent, what is above them, or all that is in one of them. */
async function mustStay(
  path: string,
  { folders, home, dataFolder, workspace }: ForbiddenPlaces,
): Promise<string | null> {
  const everything = /(^|\/)(\*|\.\*|\.\[!\.\]\*)$/.exec(path)
  const folder = everything ? path.slice(0, everything.index) || (path.startsWith('/') ? '/' : '.') : path
  const kept = [home, dataFolder, dirname(workspace)]
  for (const base of folders) {
    const target = resolve(base, folder)
    // A link by itself is removed without harm; what is behind it is not.
    const real = everything || /\/\.?$/.test(path) ? await realpath(target).catch(() => target) : target
    for (const one of [target, real]) {
      if (/^([A-Za-z]:)?[/\\]$/.test(one)) return one
      if (kept.some((root) => root === one || root.startsWith(`${one}/`))) return one
    }
  }
  return null
}
