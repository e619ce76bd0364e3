import { rowAnswered, rowInserted, entryWritten, toolMarked, rowMovedTo, testTransitions } from "./transitions.ts"
import { after, before, halfway } from "./kill-places.ts"

/** From the start of the tool to the end of the call: started → held → released → ended. */
testTransitions([
  ["after an approved call was started", "asked", after(rowMovedTo("started")), "open", "interrupted", 0],
  ["before the start of a keyed call is written", "keyed", before(entryWritten("start")), "open", "interrupted", 0],
  ["in the middle of writing a start", "plain", halfway(entryWritten("start")), "nothing", "nothing", 0],
  ["after a start was written", "plain", after(entryWritten("start")), "interrupted", "interrupted", 0],
  ["before a quick read is written", "reading", before(entryWritten("start")), "nothing", "nothing", 1],
  ["in the middle of writing a quick read", "reading", halfway(entryWritten("start")), "nothing", "nothing", 1],
  [
    "after a quick read was written, start and end at once",
    "reading",
    after(entryWritten("end")),
    "success",
    "success",
    1,
  ],
  [
    "after the start of a long read was written",
    "reading for long",
    after(entryWritten("start")),
    "interrupted",
    "interrupted",
    1,
  ],
  [
    "before the end of a long read is written",
    "reading for long",
    before(entryWritten("end")),
    "interrupted",
    "interrupted",
    1,
  ],
  ["while a tool runs", "plain", after(toolMarked), "interrupted", "interrupted", 1],
  ["while the tool of a stored call runs", "asked with a key", after(toolMarked), "open", "interrupted", 1],
  ["before a result is held", "held", before(rowInserted("held")), "interrupted", "interrupted", 1],
  ["after a result was held", "held", after(rowInserted("held")), "held", "success", 1],
  ["after the result of a keyed call was held", "held with a key", after(rowMovedTo("held")), "held", "success", 1],
  ["before a result is released", "held", before(rowAnswered('"approved.*:true')), "held", "success", 1],
  ["after a result was released", "held with a key", after(rowAnswered('"approved.*:true')), "open", "success", 1],
  ["before an end is written", "keyed", before(entryWritten("end")), "open", "interrupted", 1],
  ["in the middle of writing an end", "plain", halfway(entryWritten("end")), "interrupted", "interrupted", 1],
  ["after an end was written, before its row is closed", "keyed", after(entryWritten("end")), "success", "success", 1],
  ["after the end of a released call was written", "held", after(entryWritten("end")), "success", "success", 1],
  ["after the row of a keyed call was closed", "keyed", after(rowMovedTo("ended")), "success", "success", 1],
])
