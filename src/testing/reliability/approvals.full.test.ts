import {
  rowAnswered,
  rowInserted,
  entryWritten,
  rowMovedTo,
  grantWritten,
  testTransitions,
  voteWritten,
} from "./transitions.ts"
import { after, before } from "./kill-places.ts"

/** From the receipt of a call until it may run: received → decided → waiting → ready. */
testTransitions([
  ["before a key is claimed", "keyed", before(rowInserted("decided")), "nothing", "success", 1],
  ["after a key was claimed", "keyed", after(rowInserted("decided")), "open", "interrupted", 0],
  ["before a call is put into the approval queue", "asked", before(rowInserted("waiting")), "nothing", "nothing", 0],
  ["after a call was put into the approval queue", "asked", after(rowInserted("waiting")), "waiting", "success", 1],
  [
    "after the entry that a person is asked was written",
    "asked with a key",
    after(entryWritten("asked")),
    "waiting",
    "success",
    1,
  ],
  ["before an answer is written", "asked", before(rowAnswered('"approved.*:true')), "waiting", "success", 1],
  ["after an answer was written", "asked", after(rowAnswered('"approved.*:true')), "open", "success", 1],
  [
    "after the entry of who answered was written",
    "asked with a key",
    after(entryWritten("answered")),
    "open",
    "success",
    1,
  ],
  ["after the first of two votes was written", "voted", after(voteWritten), "waiting", "success", 1],
  ["after an edit was written", "edited", after(rowAnswered("edit")), "open", "success", 1],
  [
    "after an edited call came back to the approval queue",
    "edited",
    after(rowMovedTo("waiting")),
    "waiting",
    "success",
    1,
  ],
  ["after an answer, before it is remembered", "remembered", before(grantWritten), "open", "success", 1],
  ["after an answer was remembered", "remembered", after(grantWritten), "open", "success", 1],
  ["before an approved call is started", "asked with a key", before(rowMovedTo("started")), "open", "success", 1],
])
