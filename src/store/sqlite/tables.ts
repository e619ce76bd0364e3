/** The columns of the tables. Times are epoch milliseconds, booleans 0 and 1, JSON is text. */
export interface Tables {
  segments: SegmentRow
  ended: EndedRow
  steps: { place: number; call: string; kind: string }
  chains: ChainRow
  checkpoints: CheckpointRow
  calls: {
    id: string
    state: string
    owner: string
    epoch: number
    agent_id: string
    session_id: string
    key: string | null
    tool: string
    definition_hash: string
    input: string | null
    input_digest: string
    request: string
    asks: string
    preview: string | null
    deadline: number | null
    answer: string | null
    result: string | null
    created_at: number
    updated_at: number
    change: number
    card: string
    revision: number
    votes: string
    wanted: number
    workspace: string
  }
  documents: {
    kind: string
    id: string
    name: string | null
    live: number
    body: string
    changed_at: number
    changed_by: string
    change: number
  }
  messages: {
    id: string
    sender: string
    recipient: string
    task_id: string | null
    payload: string
    created_at: number
    deliver_at: number
    read_at: number | null
    kind: string
    about: string | null
    user_id: string | null
    hops: number
    conversation: string | null
    target: string | null
    root: string | null
  }
  conversations: {
    id: string
    agent_id: string
    state: string
    owner: string
    epoch: number
    started_by: string
    settings: string
    spent: string
    root: string
    title: string
    preview: string
    ending: string
    /** The text that a search looks in, in small letters. */
    searched: string
    read: number
    branch_of: string | null
    branch_at: number | null
    length: number
    /** Grows with every change that adds no turn. */
    change: number
    created_at: number
    updated_at: number
  }
  tree_spent: { root: string; conversation_id: string; spent: string }
  turns: { conversation_id: string; place: number; kind: string; body: string; at: number }
  hour_sums: {
    agent: string
    tool: string
    hour: number
    ending: string
    bucket: number
    count: number
    ms: number
  }
  rule_hours: { hour: number; rule: string; count: number }
  waits: {
    id: number
    call: string
    agent: string
    tool: string
    asked_at: number | null
    answered_at: number | null
  }
  starts: { agent: string; tool: string; at: number }
  processes: { owner: string; beat_at: number }
  snippets: { id: string; name: string; body: string }
  todos: { id: string; agent_id: string; task_id: string; place: number; body: string }
  artifacts: {
    id: string
    type: string
    mime_type: string
    is_binary: number
    meta: string | null
    size: number
    agent_id: string
    task_id: string | null
    call_id: string | null
    created_at: number
  }
}

/** A piece of a journal, unchanged: frames of lines, each followed by its seal. */
export interface SegmentRow {
  place: number
  last_seq: number
  text: string
}

/** Indexes the end of a call. All its columns are also in the line. */
export interface EndedRow {
  place: number
  call: string
  /** Null when the call never started. */
  start_place: number | null
  at: number
  agent: string
  tool: string
  /** `success`, or the code. */
  ending: string
  duration_ms: number
  /** The agent's role when it called; empty when it had none, or for calls from before this column existed. */
  role: string
  /** Empty when the call has no task, or for calls from before this column existed. */
  task: string
}

export interface ChainRow {
  ordinal: number
  uuid: string
  owner: string
  link: string
  last_seq: number
  last_mac: string
  head: string
  file: string | null
  byte_offset: number
  closed: number
}

/** The signed last line of chains and the last dropped line, both as JSON. */
export interface CheckpointRow {
  id: number
  at: number
  positions: string
  cuts: string
  mac: string
}
