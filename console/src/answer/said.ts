/** What the bar says when a press was not taken as an answer. */
export type Said = "clickAgain" | "scrolled" | "letGo"
