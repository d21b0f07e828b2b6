import async_hooks from 'node:async_hooks'

// node:test follows each promise of the process, so that an uncaught error fails the test that it belongs to. That took a
// tenth of the CPU time of the suite. With this module, node:test follows only its tests, and worker.ts tells of uncaught
// errors. It must be loaded before node:test.

let follow: async_hooks.HookCallbacks['init']

class Resource extends async_hooks.AsyncResource {
  constructor(...given: ConstructorParameters<typeof async_hooks.AsyncResource>) {
    super(...given)
    follow?.(this.asyncId(), given[0], this.triggerAsyncId(), this)
  }
}

const { createHook } = async_hooks
Object.assign(async_hooks, {
  // The class that a test of node:test extends.
  AsyncResource: Resource,
  createHook({ init }: async_hooks.HookCallbacks) {
    // The first hook is that of node:test.
    Object.assign(async_hooks, { createHook })
    follow = init
    return { enable() {}, disable() {} }
  },
})
