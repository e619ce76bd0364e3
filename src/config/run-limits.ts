/** The usual limits of a run of an agent, for each message: of the library, the command line, the API and agents that were woken. */
export const runLimits = { maxRounds: 50, maxCalls: 200 }
