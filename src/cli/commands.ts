import type { CommandEntry } from './command.ts'

/** All commands. A command's module is loaded when it runs, so that a small command does not load the server's code. */
export const commands: Record<string, CommandEntry> = {
  serve: {
    about: 'Serve the API on HOST and PORT until SIGTERM or SIGINT',
    load: async () => (await import('./serve.ts')).serve,
  },
  config: {
    about: 'Show the settings, which are environment variables',
    load: async () => (await import('./config.ts')).config,
  },
  migrate: {
    about: 'Bring the database up to date, or make it',
    load: async () => (await import('./migrate.ts')).migrateCommand,
  },
  upgrade: {
    about: 'Show what an upgrade would do to the database (--check), or do it',
    load: async () => (await import('./upgrade.ts')).upgrade,
  },
  doctor: {
    about: 'Check settings, database, disk, clock and webhooks, and say what mends each fault',
    load: async () => (await import('./doctor/doctor.ts')).doctor,
  },
  seed: {
    about: 'Fill a workspace with invented records to look at',
    load: async () => (await import('./seed/seed.ts')).seed,
  },
  demo: {
    about: 'Show the service at work, end to end, on a scratch folder',
    load: async () => {
      const { runDemo } = await import('../../demo/demo.ts')
      return { run: ({ io }) => runDemo({ print: (text) => io.out(...text.split('\n')) }) }
    },
  },
  keys: {
    about: 'API keys',
    commands: {
      create: {
        about: 'Make an API key; it is shown once, alone on the last line',
        load: async () => (await import('./keys.ts')).create,
      },
      list: { about: 'List the API keys', load: async () => (await import('./keys.ts')).list },
      revoke: {
        about: 'Take a key back: it counts no more within a second',
        load: async () => (await import('./keys.ts')).revoke,
      },
    },
  },
  workspaces: {
    about: 'Workspaces, each with records and keys of its own',
    commands: {
      create: {
        about: 'Make a workspace; its id is alone on the last line',
        load: async () => (await import('./workspaces.ts')).create,
      },
      list: { about: 'List the workspaces', load: async () => (await import('./workspaces.ts')).list },
    },
  },
  'setup-link': {
    about: 'Make a new link for the first account, while there is no account',
    load: async () => (await import('./people.ts')).setupLink,
  },
  people: {
    about: 'The people who sign in',
    commands: {
      list: { about: 'List them', load: async () => (await import('./people.ts')).list },
      invite: {
        about: 'Make a link to join a workspace, for example as its owner',
        load: async () => (await import('./people.ts')).invite,
      },
      delete: {
        about: 'Delete an account and its personal data',
        load: async () => (await import('./people.ts')).remove,
      },
      'reset-password': {
        about: 'Make a link to set a new password',
        load: async () => (await import('./people.ts')).resetPassword,
      },
    },
  },
  rekey: {
    about: 'Seal all secrets with a new SECRET_KEY, while SECRET_KEY_OLD has the one before',
    load: async () => (await import('./rekey.ts')).rekey,
  },
  clock: {
    about: 'Show or confirm the clock that removal uses',
    commands: {
      show: {
        about: 'Show the clock, and whether removal waits because the clock may be wrong',
        load: async () => (await import('./clock.ts')).show,
      },
      confirm: {
        about: 'Confirm the clock; removal resumes',
        load: async () => (await import('./clock.ts')).confirm,
      },
    },
  },
  backup: {
    about: 'Write a consistent copy of the database, also while the server runs',
    load: async () => (await import('./backup.ts')).backup,
  },
  restore: {
    about: 'Replace the database by a backup, while no server runs',
    load: async () => (await import('./backup.ts')).restore,
  },
  import: {
    about: 'Import a file into a running service, through its API',
    load: async () => (await import('./import.ts')).importCommand,
  },
  export: {
    about: 'Export a list, or the whole workspace, through the API of a running service',
    load: async () => (await import('./export.ts')).exportCommand,
  },
  listen: {
    about: 'Post the events of a running service to a receiver behind a firewall, signed as a webhook would',
    load: async () => (await import('./listen/listen.ts')).listen,
  },
  'verify-receiver': {
    about: 'Try a receiver of webhooks with good, repeated, forged, slow and large requests',
    load: async () => (await import('./verify-receiver/verify-receiver.ts')).verifyReceiver,
  },
  move: {
    about: 'Copy a whole installation from SQLite to PostgreSQL, or back',
    load: async () => (await import('./move.ts')).move,
  },
}
