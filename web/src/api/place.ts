/** A person in a workspace. */
export type Place = { workspace: { id: number }; user: { id: string } }

/** The header `rapport-place`: the service refuses a request if the session is in another place. */
export const placeOf = ({ workspace, user }: Place): string => `${workspace.id}/${user.id}`
