/** bcrypt reads 72 bytes and ignores the rest, so a longer password would equal its own prefix. */
export const maxPasswordBytes = 72
export const minPasswordBytes = 8
