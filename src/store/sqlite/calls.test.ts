import { callStoreContract } from "../calls.contract.ts"
import { openTwoCallStores } from "../testing/calls.ts"

callStoreContract("embedded", openTwoCallStores)
