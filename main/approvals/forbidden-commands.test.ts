import { expect, test } from 'vitest'
import { commandsOf, dataFolder, judge } from './test-judge.ts'

test('Z-66 ZA-13 elevation, Lathe itself and credential stores are never automatic, in any wrapper', async () => {
  for (const command of [
    'sudo ls',
    '/usr/bin/sudo ls',
    'env sudo ls',
    'timeout 5 sudo ls',
    'ls && sudo ls',
    'bash -c "sudo ls"',
    'flock x sudo ls',
    'xargs sudo',
    'find . -exec sudo ls \\;',
    'su -c ls',
    'doas ls',
    'pkexec ls',
    'lathe trigger x',
    'bin/lathe run x',
    'npx lathe run',
    'eval sudo ls',
    'echo "$(sudo ls)"',
    'cat ~/.ssh/id_rsa',
    'cp plain x',
    'cp --from=$HOME/.ssh/config x',
    'ls <<< x; "sudo',
  ]) {
    expect([command, commandsOf(await judge(command)).some((effect) => effect.neverAutomatic)]).toEqual([command, true])
  }
  for (const command of ['ls sudo', 'grep lathe src/a.ts', 'npm run sudoku']) {
    expect([command, commandsOf(await judge(command)).some((effect) => effect.neverAutomatic)]).toEqual([
      command,
      false,
    ])
  }
})

test('Z-70 some things are refused in every mode', async () => {
  const forbidden = [
    'rm -rf /',
    'rm -fr ~',
    'rm -r "$HOME"',
    'rm -R ${HOME}/',
    'rm --recursive ~/*',
    'rm -rf ..',
    'rm -rf /*',
    'cd / && rm -rf *',
    'cd ~; rm -rf ./*',
    'sudo rm -rf /',
    'bash -c "rm -rf ~"',
    'env rm -rf ~',
    'rm -rf deep/../../..',
    `rm -rf ${dataFolder}`,
    `cat ${dataFolder}/x`,
    'chmod -R 777 /',
    'chown -R x ~',
    'find / -delete',
    'find ~ -exec rm -rf {} +',
    'mkfs.ext4 /dev/sda1',
    'fdisk -l',
    'dd if=x of=/dev/sda',
    'cat x > /dev/nvme0n1',
    'tee /dev/sda',
    ':(){ :|:& };:',
    'bomb() { bomb & bomb; }; bomb',
    'shutdown now',
    'reboot',
    'systemctl poweroff',
    'format c:',
    'diskutil eraseDisk x',
  ]
  for (const command of forbidden)
    expect([command, (await judge(command)).some((effect) => effect.kind === 'forbidden')]).toEqual([command, true])
  const allowed = [
    'rm -rf x',
    'rm -rf .',
    'rm -rf *',
    'rm -rf ~/x',
    'chmod -R 755 .',
    'chmod 700 ~',
    'find . -delete',
    'dd if=/dev/sda of=x',
    'npm run format',
    'retry() { x || { sleep 1; retry; }; }; retry',
  ]
  for (const command of allowed)
    expect([command, (await judge(command)).some((effect) => effect.kind === 'forbidden')]).toEqual([command, false])
})
