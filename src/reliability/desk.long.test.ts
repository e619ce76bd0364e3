import { answered, entered, line, moved, remembered, testArrows, voted } from "./testing/arrows.ts"
import { after, before } from "./testing/places.ts"

/** From where a call is received to where it may run: received → decided → waiting → ready. */
testArrows([
  ["before a key is claimed", "keyed", before(entered("decided")), "nothing", "success", 1],
  ["after a key was claimed", "keyed", after(entered("decided")), "open", "interrupted", 0],
  ["before a call is put to the desk", "asked", before(entered("waiting")), "nothing", "nothing", 0],
  ["after a call was put to the desk", "asked", after(entered("waiting")), "waiting", "success", 1],
  ["after it was noted that a person is asked", "asked with a key", after(line("asked")), "waiting", "success", 1],
  ["before an answer is written", "asked", before(answered('"approved.*:true')), "waiting", "success", 1],
  ["after an answer was written", "asked", after(answered('"approved.*:true')), "open", "success", 1],
  ["after it was noted who answered", "asked with a key", after(line("answered")), "open", "success", 1],
  ["after the first of two votes was written", "voted", after(voted), "waiting", "success", 1],
  ["after an edit was written", "edited", after(answered("edit")), "open", "success", 1],
  ["after an edited call came back to the desk", "edited", after(moved("waiting")), "waiting", "success", 1],
  ["after an answer, before it is remembered", "remembered", before(remembered), "open", "success", 1],
  ["after an answer was remembered", "remembered", after(remembered), "open", "success", 1],
  ["before an approved call is started", "asked with a key", before(moved("started")), "open", "success", 1],
])
