import { answered, entered, line, marked, moved, testArrows } from "./testing/arrows.ts"
import { after, before, halfway } from "./testing/places.ts"

/** From where a call runs to its end: started → held → released → ended. */
testArrows([
  ["after an approved call was started", "asked", after(moved("started")), "open", "interrupted", 0],
  ["before the start of a keyed call is noted", "keyed", before(line("start")), "open", "interrupted", 0],
  ["in the middle of noting a start", "plain", halfway(line("start")), "nothing", "nothing", 0],
  ["after a start was noted", "plain", after(line("start")), "interrupted", "interrupted", 0],
  ["while a tool runs", "plain", after(marked), "interrupted", "interrupted", 1],
  ["while the tool of a stored call runs", "asked with a key", after(marked), "open", "interrupted", 1],
  ["before a result is held", "held", before(entered("held")), "interrupted", "interrupted", 1],
  ["after a result was held", "held", after(entered("held")), "held", "success", 1],
  ["after the result of a keyed call was held", "held with a key", after(moved("held")), "held", "success", 1],
  ["before a result is released", "held", before(answered('"approved.*:true')), "held", "success", 1],
  ["after a result was released", "held with a key", after(answered('"approved.*:true')), "open", "success", 1],
  ["before an end is noted", "keyed", before(line("end")), "open", "interrupted", 1],
  ["in the middle of noting an end", "plain", halfway(line("end")), "interrupted", "interrupted", 1],
  ["after an end was noted, before its row is closed", "keyed", after(line("end")), "success", "success", 1],
  ["after the end of a released call was noted", "held", after(line("end")), "success", "success", 1],
  ["after the row of a keyed call was closed", "keyed", after(moved("ended")), "success", "success", 1],
])
