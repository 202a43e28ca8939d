import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setImmediate as loopTurn } from 'node:timers/promises'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { OutputCapture } from './capture.ts'
import type { ExecSession } from './exec-session.ts'
import { PlainText, TextSearch } from './plain-text.ts'
import { RunningProcess } from './process.ts'
import { processSystem } from './process-tree.ts'
import { secretPrompt } from './secret-prompt.ts'
import { testExec } from './test-exec-sessions.ts'

const exec = await testExec()
afterAll(() => exec.dispose())

vi.setConfig({ testTimeout: 40_000 })
const within = { timeout: 20_000 }
const never = new AbortController().signal
const alive = async (pid: number) => (await processSystem.rows([pid])).some((row) => !row.dead)
const given = (session: ExecSession) => {
  const { kept } = session.capture.offer()
  return kept.head + kept.tail
}

/** Runs `act` with the clock of waits in its own hand. */
async function byHand(act: () => Promise<void>): Promise<void> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  try {
    await act()
  } finally {
    vi.useRealTimers()
  }
}

/** Until somebody waits on that clock. */
async function untilTimer(): Promise<void> {
  while (vi.getTimerCount() === 0) await loopTurn()
}

test('X-601 the end of a command that was over before anybody was told its number is told with it', async () => {
  const session = await exec.shell('echo quick', { owner: 'quick' })
  await session.ended
  const id = await exec.sessions.tell('quick', session)
  expect(exec.rows.get('quick')).toMatchObject([{ id, state: 'ended', end: { exitCode: 0 } }])
  expect(exec.notices.filter(({ owner }) => owner === 'quick')).toHaveLength(1)
})

describe('waiting', () => {
  test('X-416 X-417 XA-16 a text is found across chunks, at once', async () => {
    const session = await exec.told("printf REA; sleep 0.3; printf 'DY\\n'; sleep 60")
    expect(await session.untilSeen('READY', 20_000, never)).toBe('seen')
    expect(await session.untilSeen('Y', 20_000, never)).toBe('seen')
    expect(session.state).toBe('running')
    await session.stop()
  })

  test('X-416 XA-17 a text that only the spool still holds is found', async () => {
    const noise = "head -c 40000 /dev/zero | tr '\\0' x"
    const session = await exec.told(
      `${noise}; echo; echo READY; head -c 2097152 /dev/zero | tr '\\0' y; echo; echo END; sleep 60`,
    )
    expect(await session.untilSeen('END', 20_000, never)).toBe('seen')
    expect(await session.untilSeen('READY', 0, never)).toBe('seen')
    // What the agent was given before is not sought again.
    given(session)
    session.capture.taken()
    expect(await session.untilSeen('READY', 0, never)).toBe('time')
    await session.stop()
  }, 30_000)

  test('X-417 XA-19 a process that ends without the text says so; time over is no end', async () => {
    const session = await exec.told('sleep 0.2')
    expect(await session.untilSeen('X', 20_000, never)).toBe('ended')
    const other = await exec.told('sleep 60')
    expect(await other.untilSeen('X', 20, never)).toBe('time')
    expect(other.state).toBe('running')
    await other.stop()
  })

  test('X-418 XA-18 what is in the pipe already counts when the time is over', async () => {
    const session = await exec.told('echo there; exec sleep 60')
    await vi.waitFor(async () => expect(await session.untilSeen('there', 0, never)).toBe('seen'), within)
    await session.stop()
  })

  test('X-411 a look returns after output and 150 ms of quiet; until the end it waits for nothing else', async () => {
    const session = await exec.told('sleep 0.1; echo one; sleep 60')
    await session.untilQuiet(30_000, never)
    expect(given(session)).toBe('one\n')
    expect(await session.untilEnd(50, never)).toBe(false)
    const ending = session.untilEnd(30_000, never)
    await session.stop()
    expect(await ending).toBe(true)
  })

  test('X-411 each output begins the 150 ms of quiet anew', async () => {
    const session = await exec.told('exec sleep 600')
    await byHand(async () => {
      const look = session.untilQuiet(30_000, never)
      await untilTimer()
      for (const text of ['one', 'two', 'three']) {
        session.capture.push('stdout', Buffer.from(text))
        await vi.advanceTimersByTimeAsync(149)
      }
      // It waits on.
      expect(vi.getTimerCount()).toBe(1)
      await vi.advanceTimersByTimeAsync(1)
      await look
    })
    await session.stop()
  })

  test('X-416 a text behind the kept beginning is found in the spool, one that comes meanwhile behind it', async () => {
    const session = await exec.told('exec sleep 600')
    const push = (text: string) => session.capture.push('stdout', Buffer.from(text))
    push(`${'x'.repeat(300_000)}READY${'y'.repeat(1_500_000)}`)
    const { head, tail } = session.capture.offer().kept
    expect(head + tail).not.toContain('READY')
    expect(await session.untilSeen('READY', 0, never)).toBe('seen')
    push('ha')
    const seen = session.untilSeen('half', 0, never)
    // The spool is being read.
    push('lf')
    expect(await seen).toBe('seen')
    await session.stop()
  })

  test('X-418 what arrives as the time is over is still found', async () => {
    const session = await exec.told('exec sleep 600')
    await byHand(async () => {
      const seen = session.untilSeen('late', 20, never)
      await untilTimer()
      vi.advanceTimersByTime(20)
      setImmediate(() => session.capture.push('stdout', Buffer.from('late')))
      expect(await seen).toBe('seen')
    })
    await session.stop()
  })

  test('X-412 a cancelled wait ends at once and leaves the process alone', async () => {
    const session = await exec.told('sleep 60')
    const controller = new AbortController()
    const wait = session.untilEnd(600_000, controller.signal)
    controller.abort(new Error('stop'))
    await expect(wait).rejects.toThrow('stop')
    expect(session.state).toBe('running')
    await session.stop()
  })
})

describe('output', () => {
  test('X-422 XA-23 what was not recorded is given again, what was is not', async () => {
    const session = await exec.told('echo L1; read line; echo L2; sleep 60')
    await session.untilSeen('L1', 20_000, never)
    expect(given(session)).toBe('L1\n')
    expect(given(session)).toBe('L1\n')
    session.capture.taken()
    expect(given(session)).toBe('')
    await session.send('go\n', performance.now() + 5_000, never)
    await session.untilSeen('L2', 20_000, never)
    expect(given(session)).toBe('L2\n')
    await session.stop()
  })

  test('X-422 what comes between a reply and its record is given with the next', async () => {
    const session = await exec.told('exec sleep 600')
    const push = (text: string) => session.capture.push('stdout', Buffer.from(text))
    push('one\n')
    expect(given(session)).toBe('one\n')
    push('two\n')
    session.capture.taken()
    expect(session.capture.hasUnread).toBe(true)
    expect(await session.untilSeen('one', 0, never)).toBe('time')
    expect(await session.untilSeen('two', 0, never)).toBe('seen')
    expect(given(session)).toBe('two\n')
    session.capture.taken()
    expect([given(session), session.capture.hasUnread]).toEqual(['', false])
    await session.stop()
  })

  test('X-504 X-806 spool and screen hold a process back together: it goes on once both have let go', async () => {
    const wired = vi.spyOn(OutputCapture.prototype, 'onPressure')
    const [pause, resume] = [vi.spyOn(RunningProcess.prototype, 'pause'), vi.spyOn(RunningProcess.prototype, 'resume')]
    const session = await exec.told('exec sleep 600', { tty: true })
    const spool = wired.mock.calls.at(-1)![0]
    for (const spy of [pause, resume]) spy.mockClear()
    spool(true)
    expect(pause).toHaveBeenCalledTimes(1)
    session.capture.push('stdout', Buffer.from('x'.repeat(300 * 1024)))
    // The screen has held it back too, and let go.
    await vi.waitFor(() => expect(pause).toHaveBeenCalledTimes(3), within)
    expect(resume).not.toHaveBeenCalled()
    spool(false)
    expect(resume).toHaveBeenCalledTimes(1)
    for (const spy of [wired, pause, resume]) spy.mockRestore()
    await session.stop()
  })

  test('X-404 X-509 the whole output can be read by reference while it is kept', async () => {
    const session = await exec.told("printf '10%%\\r100%%\\n'; seq 3")
    await session.ended
    expect((await exec.sessions.output('s1', session.id!))!.toString()).toBe('100%\n1\n2\n3\n')
    expect(await exec.sessions.output('s2', session.id!)).toBeNull()
  })

  test('a full-screen program on a terminal is seen as its screen, and its drawing is no output', async () => {
    const session = await exec.told(
      "printf 'before\\n\\e[?1049h\\e[2;3Hdrawn'; read key; printf '\\e[?1049lafter\\n'; sleep 60",
      { tty: true },
    )
    await vi.waitFor(async () => expect(await session.screenText()).toBe('\n  drawn'), within)
    await session.send('\n', performance.now() + 5_000, never)
    await session.untilSeen('after', 20_000, never)
    expect(await session.screenText()).toBeNull()
    expect(given(session)).toBe('before\nafter\n')
    await session.stop()
  })

  test('a window sees the screen of a process, terminal or pipe, and its end', async () => {
    for (const tty of [false, true]) {
      const session = await exec.told('echo first; read line; echo second', { tty })
      await session.untilSeen('first', 20_000, never)
      const frames = session.frames(undefined, never)
      const { value } = await frames.next()
      expect(value).toMatchObject({ type: 'snapshot', data: expect.stringContaining('first') })
      await session.send('x\n', performance.now() + 5_000, never)
      let shown = ''
      for await (const frame of frames) {
        if (frame.type === 'data') shown += frame.data
        if (frame.type === 'exit') expect(frame.exitCode).toBe(0)
      }
      expect(shown).toContain('second')
    }
  })
})

describe('input', () => {
  test('X-413 X-415 XA-20 input is written once; the end of input closes a pipe', async () => {
    const session = await exec.told('cat > f')
    await session.send('a', performance.now() + 5_000, never)
    session.closeInput()
    expect(await session.untilEnd(20_000, never)).toBe(true)
    expect(await readFile(join(exec.folder, 'f'), 'utf8')).toBe('a')
    expect(session.end).toMatchObject({ reason: 'exited', exitCode: 0 })
  })

  test('X-413 a process that does not read takes what its pipe holds, and the rest is not written', async () => {
    const session = await exec.told('sleep 60')
    let accepted = 65_536
    for (let call = 0; call < 20 && accepted === 65_536; call++)
      ({ accepted } = await session.send('k'.repeat(65_536), performance.now() + 100, never))
    expect(accepted).toBeLessThan(65_536)
    await session.stop()
  })

  test('X-415 on a terminal the end of input is told also behind an unfinished line', async () => {
    const session = await exec.told('cat > g', { tty: true })
    await session.send('abc', performance.now() + 5_000, never)
    session.closeInput()
    expect(await session.untilEnd(20_000, never)).toBe(true)
    expect(await readFile(join(exec.folder, 'g'), 'utf8')).toBe('abc')
  })

  test('X-414 a process that no longer reads is told of', async () => {
    const session = await exec.told('exec 0<&-; echo shut; sleep 60')
    await session.untilSeen('shut', 20_000, never)
    let closed = false
    for (let call = 0; call < 3 && !closed; call++)
      ({ closed } = await session.send('x\n', performance.now() + 1_000, never))
    expect(closed).toBe(true)
    await session.stop()
  })
})

describe('ends', () => {
  test('X-404 X-602 X-603 an end is recorded once, with what was not read', async () => {
    const session = await exec.told("head -c 5000 /dev/zero | tr '\\0' z; exit 3")
    await session.ended
    const notice = exec.notices.find(({ owner, id }) => owner === 's1' && id === session.id)!
    expect(notice).toMatchObject({ owner: 's1', end: { reason: 'exited', exitCode: 3, signal: null } })
    expect(notice.prompt).toContain(`${'z'.repeat(1_000)}\n[... 1,000 characters left out ...]\n${'z'.repeat(3_000)}\n`)
    expect(session.end!.outputRef).toHaveLength(64)
    expect(exec.kept.at(-1)).toBe(5_000)
  })

  test('X-212 X-213 XA-11 the reason is what came first, a missing code is never 0', async () => {
    const killed = await exec.told('kill -9 $$')
    await killed.ended
    expect(killed.end).toMatchObject({ reason: 'exited', exitCode: null, signal: 'SIGKILL' })
    const stopped = await exec.told("trap 'exit 0' TERM; sleep 60 & wait")
    await stopped.untilQuiet(100, never)
    await stopped.stop()
    expect(stopped.end).toMatchObject({ reason: 'stopped' })
    const late = await exec.told('exit 5')
    await late.ended
    await late.stop()
    expect(late.end).toMatchObject({ reason: 'exited', exitCode: 5 })
  })

  test('X-405 X-421 only its limit ends a silent process', async () => {
    const session = await exec.told('sleep 60', { timeoutMs: 100 })
    await session.ended
    expect(session.end!.reason).toBe('timed_out')
  })

  test('X-211 what an exec session leaves running becomes one of its own', async () => {
    const session = await exec.told('sleep 300 & echo $!; exit 0')
    await session.ended
    const pid = Number(given(session))
    const left = (await session.left)!
    expect(left.facts).toMatchObject({ label: 'background', timeoutMs: null })
    expect(exec.sessions.list('s1')).toContain(left)
    expect(await alive(pid)).toBe(true)
    await left.stop()
    expect(await alive(pid)).toBe(false)
    expect(left.end!.reason).toBe('stopped')
  })
})

describe('ownership and limits', () => {
  test('X-402 XA-21 the id of another session answers as one that never was', async () => {
    const session = await exec.told('sleep 60', { owner: 'a' })
    const foreign = await exec.sessions.get('b', session.id!).catch((error: Error) => error.message)
    const none = await exec.sessions.get('b', 'x77').catch((error: Error) => error.message)
    expect(foreign).toBe(`There is no exec session ${session.id}.`)
    expect(none).toBe('There is no exec session x77.')
    await session.stop()
  })

  test('X-403 XA-24 a seventeenth is refused with the ids of those that run, and none is ended for it', async () => {
    const sixteen = await Promise.all(Array.from({ length: 16 }, () => exec.told('sleep 60', { owner: 'many' })))
    const refused = await exec.shell('sleep 60', { owner: 'many' }).catch((error: Error) => error)
    expect(refused).toMatchObject({ code: 'exec.limit' })
    for (const { id } of sixteen) expect((refused as Error).message).toContain(`${id}: sleep 60`)
    expect(exec.sessions.running('many')).toHaveLength(16)
    await exec.sessions.endOf('many')
    expect(exec.sessions.running('many')).toHaveLength(0)
  }, 30_000)

  test('X-403 sixty-four are the most in a host, whoever owns them', async () => {
    const owners = ['h1', 'h2', 'h3', 'h4']
    await Promise.all(
      owners.flatMap((owner) => Array.from({ length: 16 }, () => exec.told('exec sleep 60', { owner }))),
    )
    await expect(exec.shell('sleep 60', { owner: 'h5' })).rejects.toMatchObject({ code: 'exec.limit' })
    await exec.sessions.running('h1')[0]!.stop()
    await (await exec.shell('exec sleep 60', { owner: 'h5' })).stop()
    await Promise.all(owners.map((owner) => exec.sessions.endOf(owner)))
  }, 120_000)

  test('X-403 starts of the same instant are counted too, of a session and of the host', async () => {
    const owners = ['i1', 'i2', 'i3', 'i4', 'i5']
    const started = async (starts: Promise<ExecSession>[]) => {
      const all = await Promise.allSettled(starts)
      for (const one of all) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'exec.limit' })
      return all.filter(({ status }) => status === 'fulfilled').length
    }
    const starts = (owner: string, count: number) =>
      Array.from({ length: count }, () => exec.shell('exec sleep 600', { owner }))
    expect(await started(starts('i1', 18))).toBe(16)
    expect(await started(owners.slice(1).flatMap((owner) => starts(owner, 14)))).toBe(48)
    await Promise.all(owners.map((owner) => exec.sessions.endOf(owner)))
  }, 120_000)

  test('X-404 an ended one is kept for 30 minutes', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const session = await exec.told('read go', { owner: 'half an hour', timeoutMs: null })
      session.closeInput()
      await session.ended
      await vi.advanceTimersByTimeAsync(30 * 60_000 - 1)
      expect(await exec.sessions.get('half an hour', session.id!)).toBe(session)
      await vi.advanceTimersByTimeAsync(1)
      await expect(exec.sessions.get('half an hour', session.id!)).rejects.toMatchObject({
        message: `${session.id} has ended.`,
      })
    } finally {
      vi.useRealTimers()
    }
  })

  test('X-404 at most 32 ended ones are kept, the told ones go first; then their output is named', async () => {
    // Each waits until it has its number: one that ends before anybody was told of it leaves nothing to keep.
    const ended = async (command: string) => {
      const session = await exec.told(`read go; ${command}`, { owner: 'kept' })
      session.closeInput()
      await session.ended
      return session
    }
    const unread = await ended('echo unread')
    const first = await ended("head -c 9000 /dev/zero | tr '\\0' q")
    first.endTold = true
    for (let round = 0; round < 32; round++) (await ended('true')).endTold = true
    await expect(exec.sessions.get('kept', first.id!)).rejects.toMatchObject({
      code: 'exec.not_found',
      message: `${first.id} has ended.`,
      hint: `Its output can be read as output:${'f'.repeat(64)}.`,
    })
    expect(await exec.sessions.get('kept', unread.id!)).toBe(unread)
  }, 60_000)

  test('X-423 calls are applied in the order they came', async () => {
    const session = await exec.told('cat', { owner: 'order' })
    const order: number[] = []
    await Promise.all(
      [30, 1, 10].map((ms, at) =>
        session.inTurn(async () => {
          await session.untilEnd(ms, never)
          order.push(at)
        }),
      ),
    )
    expect(order).toEqual([0, 1, 2])
    await session.stop()
  })
})

describe('secrets', () => {
  test('X-428 K-04 XA-12 a request for a password goes to the person; the answer to the process alone', async () => {
    const ask = `printf 'Password: '; IFS= read -rs secret; echo; [ "$secret" = s3cr ] && echo welcome; echo "$secret"; sleep 60`
    const session = await exec.told(ask, { tty: true })
    await vi.waitFor(() => expect(session.asking).toBe('Password:'), within)
    await vi.waitFor(() => expect(exec.prompts).toContain('Password:'), within)
    session.answer('s3cr')
    expect(await session.untilSeen('welcome', 20_000, never)).toBe('seen')
    await vi.waitFor(() => expect(given(session)).toContain('[hidden]'), within)
    expect(given(session)).not.toContain('s3cr')
    expect(await text(session.capture.full())).not.toContain('s3cr')
    expect(session.asking).toBeNull()
    await session.stop()
  })

  test('X-428 declining is Ctrl+C', async () => {
    const session = await exec.told("printf 'Enter passphrase for key: '; exec sleep 600", { tty: true })
    await vi.waitFor(() => expect(session.asking).not.toBeNull(), within)
    session.answer(null)
    await session.ended
    expect(session.end).toMatchObject({ reason: 'exited', signal: 'SIGINT' })
  })

  test('X-428 requests for secrets are told from other lines', () => {
    for (const line of [
      'Password: ',
      '[sudo] password for ann: ',
      "Enter PIN for 'card': ",
      'Verification code: ',
      "user@host's password: ",
    ])
      expect(secretPrompt(line)).not.toBeNull()
    for (const line of ['>>> ', '$ ', 'Change password? [y/N]: ', 'Password changed.', 'the secret of it', ''])
      expect(secretPrompt(line)).toBeNull()
  })
})

describe('the keyboard', () => {
  test('the person takes it over and hands it back, and it is known that they typed', async () => {
    const session = await exec.told('cat', { tty: true })
    expect(session.type('no\r')).toBe(false)
    session.hold(true)
    expect(session.type('mine\r')).toBe(true)
    expect(await session.untilSeen('mine', 20_000, never)).toBe('seen')
    session.hold(false)
    expect(session.type('no\r')).toBe(false)
    expect(session.typed).toBe(true)
    await session.stop()
  })
})

test('X-416 escape sequences are no part of what is sought, however they are cut', () => {
  const text = 'a\x1b[31mb\x1b]8;;http://x\x07c\x1b(Bd\x1b[0me'
  for (let size = 1; size < text.length; size++) {
    const plain = new PlainText()
    let out = ''
    const search = new TextSearch('abcde')
    for (let at = 0; at < text.length; at += size) {
      out += plain.push(text.slice(at, at + size))
      search.push(text.slice(at, at + size))
    }
    expect(out).toBe('abcde')
    expect(search.found).toBe(true)
  }
})
