/** The filter of a plan by owner: the person, and nobody. Otherwise nobody would see what a key has created. */
export const mine = 'me,null'
