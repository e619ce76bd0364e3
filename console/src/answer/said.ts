/** The bar's message when a press was not taken as an answer. */
export type Said = "clickAgain" | "scrolled" | "letGo"
