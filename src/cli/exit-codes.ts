/**
 * What the exit code of a command says. A script can distinguish "the answer is no" from "the question
 * could not be asked", and both from a mistake of its own.
 */
export const exitCodes = {
  done: 0,
  no: 1,
  usage: 2,
  invalid: 3,
  testsFailed: 4,
  unavailable: 5,
  bug: 70,
} as const

/** One line for each code, for the documentation. */
export const exitCodeMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  done: 'done, or the answer is yes',
  no: 'the answer is no, or the command refused',
  usage: 'bad usage: an unknown command, option or value',
  invalid: 'a file, the policy or the configuration is not valid',
  testsFailed: 'a policy test failed, or coverage is too low',
  unavailable:
    'cannot answer: Redis, the database or a file is unavailable, nothing is published, or the revision does not exist',
  bug: 'a bug in Postern; stderr has the stack',
}
