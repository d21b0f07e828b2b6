import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { findProgram } from './packages.ts'
import { freePort } from './ports.ts'
import { scratchFolder } from './process.ts'

/**
 * Starts a PgBouncer in front of a database, in transaction mode, with fewer connections than the service has. It ends
 * with the test.
 */
export async function startPgBouncer(t: TestContext, url: string) {
  const program = findProgram('pgbouncer')
  const folder = scratchFolder(t)
  chmodSync(folder, 0o755)
  const { hostname, port: server_port, username, password, pathname } = new URL(url)
  const name = pathname.slice(1)
  const as =
    process.getuid?.() === 0
      ? {
          uid: Number(execFileSync('id', ['-u', 'nobody'])),
          gid: Number(execFileSync('id', ['-g', 'nobody'])),
        }
      : {}
  const port = await freePort()
  const file = join(folder, 'pgbouncer.ini')
  writeFileSync(
    file,
    `[databases]
${name} = host=${hostname} port=${server_port} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
`,
  )
  let pooler: ChildProcess
  async function start() {
    pooler = spawn(program, ['-q', file], { ...as, stdio: 'ignore' })
    for (let tries = 0; ; tries++) {
      const socket = connect(port, '127.0.0.1')
      const open = await Promise.race([
        once(socket, 'connect').then(
          () => true,
          () => false,
        ),
        once(pooler, 'exit').then(() => false),
      ])
      socket.destroy()
      if (open) return
      if (tries > 100 || pooler.exitCode !== null) throw new Error(`PgBouncer does not start on port ${port}`)
      await pause(20)
    }
  }
  async function stop() {
    if (pooler.exitCode !== null || pooler.signalCode !== null) return
    pooler.kill('SIGKILL')
    await once(pooler, 'exit')
  }
  await start()
  t.after(stop)
  return { url: `postgres://anyone@127.0.0.1:${port}/${name}`, start, stop }
}
