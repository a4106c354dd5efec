// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"encoding/json"
	"time"
)

// Metadata of objects in Kubernetes' protobuf: k8s.io/apimachinery, pkg/apis/meta/v1/generated.proto.

const (
	protobufType   = "application/vnd.kubernetes.protobuf"
	protobufStream = protobufType + ";stream=watch"
)

type partialObject struct {
	Metadata struct {
		Name, Namespace, UID, ResourceVersion string
		Generation                            int64
		CreationTimestamp                     *time.Time
		Labels, Annotations                   map[string]string
		ManagedFields                         []struct {
			Manager, Operation, APIVersion, FieldsType, Subresource string
			Time                                                    time.Time
			FieldsV1                                                json.RawMessage
		}
	}
}

func bytesField[T ~string | ~[]byte](out []byte, number int, value T) []byte {
	out = binary.AppendUvarint(out, uint64(number)<<3|2)
	out = binary.AppendUvarint(out, uint64(len(value)))
	return append(out, value...)
}

func numberField(out []byte, number int, value int64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(out, uint64(number)<<3), uint64(value))
}

func timeMessage(t time.Time) []byte { return numberField(nil, 1, t.Unix()) }

func mapField(out []byte, number int, entries map[string]string) []byte {
	for key, value := range entries {
		out = bytesField(out, number, bytesField(bytesField(nil, 1, key), 2, value))
	}
	return out
}

// The message PartialObjectMetadata of its JSON. Panics if that is invalid: this program wrote it.
func metadataMessage(object []byte) []byte {
	var o partialObject
	if err := json.Unmarshal(object, &o); err != nil {
		panic(err)
	}
	m := &o.Metadata
	out := bytesField(make([]byte, 0, len(object)), 1, m.Name)
	out = bytesField(out, 3, m.Namespace)
	out = bytesField(out, 5, m.UID)
	out = bytesField(out, 6, m.ResourceVersion)
	out = numberField(out, 7, m.Generation)
	if m.CreationTimestamp != nil {
		out = bytesField(out, 8, timeMessage(*m.CreationTimestamp))
	}
	out = mapField(out, 11, m.Labels)
	out = mapField(out, 12, m.Annotations)
	for _, f := range m.ManagedFields {
		entry := bytesField(bytesField(bytesField(nil, 1, f.Manager), 2, f.Operation), 3, f.APIVersion)
		entry = bytesField(bytesField(entry, 4, timeMessage(f.Time)), 6, f.FieldsType)
		entry = bytesField(entry, 7, bytesField(nil, 1, f.FieldsV1))
		out = bytesField(out, 17, bytesField(entry, 8, f.Subresource))
	}
	return bytesField(nil, 1, out)
}

// A message in the envelope of its kind.
func envelope(apiVersion, kind string, message []byte) []byte {
	out := bytesField([]byte("k8s\x00"), 1, bytesField(bytesField(nil, 1, apiVersion), 2, kind))
	out = bytesField(out, 2, message)
	return bytesField(bytesField(out, 3, ""), 4, "")
}

// A frame of a watch stream: the length of an event, and the event with an object in its envelope.
func frameOf(out []byte, what string, object []byte) []byte {
	event := bytesField(bytesField(nil, 1, what), 2, bytesField(nil, 1, object))
	return append(binary.BigEndian.AppendUint32(out, uint32(len(event))), event...)
}

func eventFrame(out []byte, what string, message []byte) []byte {
	return frameOf(out, what, envelope("meta.k8s.io/v1", "PartialObjectMetadata", message))
}

// The event after which a client has to list again.
func expiredFrame() []byte {
	status := bytesField(bytesField(bytesField(nil, 2, "Failure"), 3, "too old resource version"), 4, "Expired")
	return frameOf(nil, "ERROR", envelope("v1", "Status", numberField(status, 6, 410)))
}

// A bookmark of a watch stream; `initial` ends the initial events.
func bookmarkFrame(version string, initial bool) []byte {
	metadata := bytesField(nil, 6, version)
	if initial {
		metadata = mapField(metadata, 12, map[string]string{"k8s.io/initial-events-end": "true"})
	}
	return eventFrame(nil, "BOOKMARK", bytesField(nil, 1, metadata))
}

// The message of a list without its items.
func listMetadata(version, token string, remaining int) []byte {
	out := bytesField(bytesField(nil, 2, version), 3, token)
	if token != "" {
		out = numberField(out, 4, int64(remaining))
	}
	return bytesField(nil, 1, out)
}
