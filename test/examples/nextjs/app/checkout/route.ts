import { Quittance } from "@quittance/client"

const { QUITTANCE_KEY = "", QUITTANCE_URL = "" } = process.env
const quittance = new Quittance({ key: QUITTANCE_KEY, baseUrl: QUITTANCE_URL })

export const POST = async (): Promise<Response> => {
  const { intentToken } = await quittance.paymentIntents.create({
    amount: "10.00",
    intentUrl: "https://shop.example.com/orders/1042"
  })
  return Response.json({ intentToken })
}
