/** What one server may cost us. */
export const clientLimits = {
  /** Bytes of one message; a server that sends more is ended. */
  messageBytes: 10 * 1024 * 1024,
  /** How deeply a message may be nested. */
  levels: 1_000,
  /** Processes that are servers, in this process. */
  children: 64,
  tools: 10_000,
  /** What else is listed, each. */
  listed: 10_000,
  pages: 1_000,
  /** Notifications and requests of a server that are looked at in a second; what is more is dropped. */
  notesPerSecond: 500,
  /** Messages of any kind that are read in a second; then reading rests until the second is over. */
  messagesPerSecond: 10_000,
  /** Questions of one server that people or programs may have before them at a time. */
  questions: 8,
  connectMs: 20_000,
  callMs: 60_000,
  /** How long a stdio server may leave the question for the newer protocol unanswered before it is asked in the older one. */
  probeMs: 5_000,
  /** How long a server that left a call unanswered may take to say that it is there. */
  lookMs: 2_000,
  /** How long we believe that a server speaks only the older protocol. */
  verdictMs: 60 * 60_000,
  /** Changes of a list within this time are asked for once. */
  refreshMs: 200,
  /** Rounds of questions within one call. */
  rounds: 10,
} as const
