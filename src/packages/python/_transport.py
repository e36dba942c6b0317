"""One HTTP call: time-out, retries, errors from the envelope."""

import json
import math
import random
import re
import time
import urllib.error
import urllib.request
from email.message import Message
from http.client import HTTPException
from typing import Any, Callable, Dict, List, Mapping, Optional
from urllib.parse import urlencode

Call = Callable[..., Any]

_MAX_WAIT = 30.0


class QuittanceError(Exception):
    """A failed call. Switch on ``code``: codes are stable.

    ``NO_ANSWER``: no complete response arrived. ``UNKNOWN_ANSWER``: the response is not the service's.
    ``status`` is 0 if there was no response. ``retry_after`` is in seconds, if the service sent it.
    """

    def __init__(
        self,
        code: str,
        status: int,
        message: str,
        *,
        retryable: bool = False,
        request_id: Optional[str] = None,
        reason: Optional[str] = None,
        details: Optional[List[Dict[str, str]]] = None,
        doc_url: Optional[str] = None,
        retry_after: Optional[float] = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.message = message
        self.retryable = retryable
        self.request_id = request_id
        self.reason = reason
        self.details = details or []
        self.doc_url = doc_url
        self.retry_after = retry_after


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would send the key to another address."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirect)


def _seconds(text: Optional[str]) -> Optional[float]:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if value > 0 and math.isfinite(value) else None


def _error_of(status: int, sent: Message, body: bytes) -> QuittanceError:
    headers = {name.lower(): value for name, value in sent.items()}
    retry_after = _seconds(headers.get("retry-after"))
    try:
        error = json.loads(body)["error"]
        return QuittanceError(
            error["code"],
            status,
            error["message"],
            retryable=error.get("retryable", False),
            request_id=error.get("requestId"),
            reason=error.get("reason"),
            details=error.get("details"),
            doc_url=error.get("docUrl"),
            retry_after=retry_after,
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return QuittanceError(
            "UNKNOWN_ANSWER",
            status,
            f"The response (HTTP {status}) is not from Quittance. Check base_url and any proxy in front of the service.",
            retryable=status >= 500,
            request_id=headers.get("x-request-id"),
            retry_after=retry_after,
        )


def _given(values: Mapping[str, Any]) -> Dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


# The end of a complete export, with its number of rows.
_WHOLE = re.compile(rb'(^|\n)(end[,;]\d+[,;]*\r\n|\],"rows":\d+\}\n)\Z')


def _no_answer() -> QuittanceError:
    return QuittanceError(
        "NO_ANSWER",
        0,
        "The service did not respond. Check base_url and the network; the call may have been carried out.",
        retryable=True,
    )


def transport(key: str, base_url: str, timeout: float, retries: int) -> Call:
    """Returns a function that makes calls and returns their bodies."""
    origin = base_url.rstrip("/")

    def attempt(method: str, path: str, body: Optional[Mapping[str, Any]], raw: bool) -> Any:
        request = urllib.request.Request(
            origin + path,
            method=method,
            data=None if body is None else json.dumps(_given(body)).encode(),
            headers={
                "authorization": f"Bearer {key}",
                "accept": "*/*" if raw else "application/json",
                # Firewalls block urllib's own user agent.
                "user-agent": "quittance-python",
                **({} if body is None else {"content-type": "application/json"}),
            },
        )
        try:
            try:
                answer = _opener.open(request, timeout=timeout)
            except urllib.error.HTTPError as error:
                answer = error
            with answer:
                status, headers, text = answer.status, answer.headers, answer.read()
        # HTTPException covers a response that breaks off.
        except (OSError, ValueError, EOFError, HTTPException) as error:
            raise _no_answer() from error
        if not 200 <= status <= 299:
            raise _error_of(status, headers, text)
        if raw:
            # A proxy may hide that a file broke off.
            if _WHOLE.search(text[-128:]) is None:
                raise _no_answer()
            return text
        if text == b"":
            return None
        try:
            return json.loads(text)
        except ValueError:
            raise _error_of(status, headers, text) from None

    def call(
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, Any]] = None,
        body: Optional[Mapping[str, Any]] = None,
        idempotent: bool = True,
        raw: bool = False,
    ) -> Any:
        search = urlencode(_given(query or {}))
        target = f"{path}?{search}" if search else path
        tried = 0
        while True:
            try:
                return attempt(method, target, body, raw)
            except QuittanceError as error:
                safe = error.status == 429 or (idempotent and (error.status >= 500 or error.status == 0))
                if tried >= retries or not safe:
                    raise
                # Half to all of an exponential delay, so that clients do not return all at once.
                wait = error.retry_after or 0.25 * 2**tried * (0.5 + random.random() / 2)
                if wait > _MAX_WAIT:
                    raise
                time.sleep(wait)
                tried += 1

    return call
