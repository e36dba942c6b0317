// The browser's side of passkeys: requests a signature from the device and sends it to the service.
import type { PasskeyOptions } from "../api/accounts/Api.ts"
import { ApiError } from "./ApiError.ts"
import { call } from "./api.ts"

export const hasPasskeys = typeof PublicKeyCredential !== "undefined"

const text = (bytes: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "")

const refused = () =>
  new ApiError(0, {
    code: "PASSKEY_REFUSED",
    message: "The device returned no passkey. Try again, or use the password."
  })

const signedBy = async (credential: Promise<Credential | null>): Promise<PublicKeyCredential> => {
  const given = await credential.catch(() => null)
  if (!(given instanceof PublicKeyCredential)) throw refused()
  return given
}

/** Signs the options of `path` + `/options`, and posts the signature to `path`. */
export const signByPasskey = async <T>(path: string): Promise<T> => {
  const { options } = await call<{ options: PublicKeyCredentialRequestOptionsJSON }>(
    "POST",
    `${path}/options`
  )
  const { id, response } = await signedBy(
    navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) })
  )
  if (!(response instanceof AuthenticatorAssertionResponse)) throw refused()
  return call<T>("POST", path, {
    id,
    clientDataJSON: text(response.clientDataJSON),
    authenticatorData: text(response.authenticatorData),
    signature: text(response.signature)
  })
}

export const addPasskey = async (name: string): Promise<void> => {
  const { options } = await call<PasskeyOptions & { options: PublicKeyCredentialCreationOptionsJSON }>(
    "POST",
    "/passkeys/options"
  )
  const { id, response } = await signedBy(
    navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
  )
  if (!(response instanceof AuthenticatorAttestationResponse)) throw refused()
  await call("POST", "/passkeys", {
    id,
    name,
    clientDataJSON: text(response.clientDataJSON),
    attestationObject: text(response.attestationObject),
    transports: response.getTransports()
  })
}
