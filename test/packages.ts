import { execFileSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

function onPath(name: string): string | null {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    try {
      accessSync(join(folder, name), constants.X_OK)
      return join(folder, name)
    } catch {}
  }
  return null
}

const wait = ['-o', 'DPkg::Lock::Timeout=300']

/**
 * The path of a program of Debian's; its package is installed when it is missing and we may. Throws, saying what to
 * install, when we may not.
 */
export function findProgram(program: string, package_name = program): string {
  const found = onPath(program)
  if (found) return found
  if (process.getuid?.() !== 0 || !onPath('apt-get'))
    throw new Error(`This test needs ${program} on the PATH: apt-get install ${package_name}`)
  // One at a time: test files run side by side, and apt-get refuses a second of its kind.
  // Nor may it stop at an apt-get of somebody else, such as the updates of a new machine.
  const apt = (...words: string[]) =>
    execFileSync('flock', [join(tmpdir(), 'rapport-apt.lock'), 'apt-get', ...wait, ...words], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
  apt('update')
  apt('install', '-y', '--no-install-recommends', package_name)
  const installed = onPath(program)
  if (!installed) throw new Error(`apt-get install ${package_name} brought no ${program}`)
  return installed
}

/**
 * The path of Chromium's headless shell: it opens the same pages with half the CPU time. Where it cannot be installed, the
 * path of Chromium.
 */
export function findBrowser(): string {
  try {
    return findProgram('chromium-headless-shell')
  } catch {
    return findProgram('chromium')
  }
}

/** The flags of every test browser: no sandbox, no GPU, no background requests. */
export const browser_flags = [
  ...['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
]
