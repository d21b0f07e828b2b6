const seconds = (n: number) => (n === 1 ? '1 second' : `${n} seconds`)
const minutes = (n: number) => (n === 1 ? '1 minute' : `${n} minutes`)
const wait = (s: number) => (s < 90 ? seconds(s) : minutes(Math.ceil(s / 60)))

/** The texts of the pages without a session. */
export const people = {
  name: 'Your name',
  password: 'Password',
  new_password: 'New password',
  show_password: 'Show the password',
  password_rule: 'At least 10 characters. A few words in a row are easy to remember.',
  nothing_found: 'Nothing found.',
  wait: (s: number) => `Too many wrong tries. Try again in ${wait(s)}.`,
  roles: { owner: 'Owner', admin: 'Admin', member: 'Member', read_only: 'Read-only' },
  sign_in: 'Sign in',
  session_ended: 'Your session ended. Sign in again.',
  wrong: 'The e-mail or the password is wrong.',
  forgotten: 'Forgotten the password? The operator of this service can create a link for a new one.',
  setup_needed: 'Nobody has an account yet',
  setup_needed_text:
    'The terminal in which the service was started shows a link to create the first one. Open that link.',
  setup_title: 'Create your account',
  setup_text: 'You are the first one here. You will own the workspace, and can invite others.',
  setup_action: 'Create account and workspace',
  setup_over: 'This link is no longer valid. Start the service again to get a new one.',
  setup_done: 'This service is set up',
  setup_done_text: 'Somebody has an account already. Sign in, or ask for an invitation.',
  workspace_name: 'Name of the workspace',
  workspace_name_text: 'Usually your company or team.',
  link_over: 'This link does not work',
  link_incomplete: 'It is incomplete, or was opened before. Open it again as you got it.',
  invitation_over: 'It was used or taken back, or it is too old. Ask for a new one.',
  member_already: 'You are a member of this workspace already. Sign in.',
  invitation_title: (workspace: string) => `Join ${workspace}`,
  invitation_text: (role: string, has_account: boolean) =>
    has_account
      ? `You are invited as: ${role}. This e-mail has an account; accept with its password.`
      : `You are invited as: ${role}. Create your account to accept.`,
  own_account: 'I have no account here yet',
  use_account: 'Use the account that I have',
  invitation_action: 'Accept the invitation',
  reset_title: 'Choose a new password',
  reset_text: 'You will be signed in with it, and signed out everywhere else.',
  reset_action: 'Save the password and sign in',
  reset_over: 'This link was used, or it is too old. Ask for a new one.',
}
