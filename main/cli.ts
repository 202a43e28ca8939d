/** The command line. Each command loads only what it needs, so that a script pays for nothing else. */
import { enableCompileCache } from 'node:module'
import { errorBody } from '../preload/contract/errors.ts'
import { parseArguments, type Arguments } from './cli/arguments.ts'
import type { OpenHost } from './cli/command-host.ts'
import { exitCodes } from './cli/exit-codes.ts'
import { helpPage } from './cli/help.ts'
import { listenForInterrupts } from './cli/interrupts.ts'
import { createOutput, type Output } from './cli/output.ts'
import { dataFolder } from './platform/home.ts'

enableCompileCache()

async function obey(args: Arguments, output: Output): Promise<number> {
  const home = dataFolder()
  const openHost: OpenHost = async (asked) => {
    const host = await import('./host.ts')
    return host.openHost({ home, kind: 'web', lasting: false, ...asked })
  }
  switch (args.command) {
    case 'help':
      output.print(helpPage(args.topic))
      return exitCodes.completed
    case 'version': {
      const { version } = await import('./host.ts')
      output.print(version)
      return exitCodes.completed
    }
    case 'run': {
      const { run } = await import('./cli/run.ts')
      return run(args, openHost, output, listenForInterrupts())
    }
    case 'serve': {
      const { serve } = await import('./serve.ts')
      const interrupts = listenForInterrupts()
      try {
        const ready = (url: string): void => {
          output.line({ url })
          if (!args.json) output.note('Open this address in a browser on this machine; Ctrl+C ends the host.')
        }
        const watchReady = (watchUrl: string): void => {
          output.line({ watchUrl })
          if (!args.json) output.note('Whoever opens this second address can watch, and change nothing.')
        }
        await serve({
          home,
          port: args.port,
          workspace: args.workspace,
          ready,
          ...(args.watchLink ? { watchReady } : {}),
          note: output.note,
          signal: interrupts.signal,
        })
        return exitCodes.completed
      } catch (error) {
        // No line on stdout: there is no host (S-139).
        const { message, hint } = errorBody(error)
        output.note(`lathe: ${message}${hint === undefined ? '' : `\n${hint}`}`)
        return exitCodes.failed
      }
    }
    case 'doctor': {
      const [{ doctor }, { version }] = await Promise.all([import('./cli/doctor.ts'), import('./host.ts')])
      return doctor({ home, version }, output, args)
    }
    default: {
      const { sessions } = await import('./cli/sessions.ts')
      return sessions(args, openHost, output)
    }
  }
}

async function main(words: string[]): Promise<number> {
  let args: Arguments
  try {
    args = parseArguments(words)
  } catch (error) {
    const output = createOutput(words.includes('--json'))
    output.fail(error)
    await output.flush()
    return exitCodes.wrongUsage
  }
  const output = createOutput(args.json)
  const code = await obey(args, output).catch((error: unknown) => {
    output.fail(error)
    return exitCodes.failed
  })
  await output.flush()
  return code === exitCodes.completed && output.isLost() ? exitCodes.failed : code
}

// Whatever a library still holds open must not keep a finished command alive.
process.exit(await main(process.argv.slice(2)))
