/** The limits of one run that works by itself, at the command line or because a message woke an agent. */
export const runLimits = { maxRounds: 50, maxCalls: 200 }
