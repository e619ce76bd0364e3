/** Limits on what one server may use. */
export const clientLimits = {
  /** Bytes of one message; a server that sends more is disconnected. */
  messageBytes: 10 * 1024 * 1024,
  /** Limit of nested levels of a message. */
  nestingLevels: 1_000,
  /** Servers that run as child processes of this process. */
  processes: 64,
  tools: 10_000,
  /** Resources, templates and prompts, each. */
  listItems: 10_000,
  pages: 1_000,
  /** Notifications and requests of a server; those above the limit are dropped. */
  notificationsPerSecond: 500,
  /** Messages of any kind; above the limit reading pauses until the second is over. */
  messagesPerSecond: 10_000,
  /** Unanswered questions of one server at a time. */
  questions: 8,
  connectMs: 20_000,
  callMs: 60_000,
  /** Time to wait for a stdio server's answer in the newer protocol before the older one is tried. */
  probeMs: 5_000,
  /** Time for a server that left a call unanswered to answer a ping. */
  pingTimeoutMs: 2_000,
  /** Time for which we remember that a server has only the older protocol. */
  protocolCacheMs: 60 * 60_000,
  /** Changes of lists within this time cause one refresh. */
  refreshMs: 200,
  /** Rounds of questions within one call. */
  questionRounds: 10,
} as const
