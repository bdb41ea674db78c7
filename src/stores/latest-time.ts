/** ECMA-262, Time Values: later times, in milliseconds, are not valid dates. Redis may contain any number. */
export const latestTime = 8.64e15
