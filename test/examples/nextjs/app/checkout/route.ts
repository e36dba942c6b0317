import { Quittance } from "@quittance/client"
import { tokenOf } from "../../orders"

const { QUITTANCE_KEY = "", QUITTANCE_URL = "" } = process.env
const quittance = new Quittance({ key: QUITTANCE_KEY, baseUrl: QUITTANCE_URL })

export const POST = async (): Promise<Response> =>
  Response.json({ intentToken: await tokenOf(quittance, "https://shop.example.com/orders/1042", "10.00") })
