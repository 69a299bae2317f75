//! Properties as text, and where they come from.

use std::sync::Arc;

use quire_device::{
    DataSetError, DataSetVolume, PropertyError, PropertyName, PropertySource, parse_properties,
};
use quire_store::MemDisk;

use crate::volumes::{create_on, open_on};

/// As a command would print it.
fn shown(sets: &DataSetVolume, set: &str, name: PropertyName) -> String {
    let values = sets.property_values(set).unwrap();
    let value = values.into_iter().find(|one| one.name == name).unwrap();
    let source = match value.source {
        PropertySource::Local => "local".to_owned(),
        PropertySource::Inherited { from } => format!("inherited from {from}"),
        PropertySource::Default => "default".to_owned(),
    };
    format!("{} {source}", value.value)
}

#[test]
fn values_come_from_the_data_set_or_the_nearest_above_that_has_one() {
    let disk = Arc::new(MemDisk::new());
    let sets = create_on(disk.clone(), 1 << 20);
    let properties = parse_properties(["compression=gzip-9", "quota=10g"]).unwrap();
    sets.create_set("a", properties).unwrap();
    sets.create_set("a/b", parse_properties(["recordsize=8k"]).unwrap())
        .unwrap();
    sets.create_set("a/b/c", Default::default()).unwrap();
    sets.set_property("a/b/c", "sectors=4096").unwrap();
    let expected = [
        ("a", PropertyName::Compression, "gzip-9 local"),
        ("a/b", PropertyName::Compression, "gzip-9 inherited from a"),
        (
            "a/b/c",
            PropertyName::Compression,
            "gzip-9 inherited from a",
        ),
        ("a/b/c", PropertyName::RecordSize, "8k inherited from a/b"),
        ("a", PropertyName::RecordSize, "128k default"),
        ("a/b/c", PropertyName::Sectors, "4096 local"),
        ("a", PropertyName::Quota, "10g local"),
        ("a/b", PropertyName::Quota, "none default"),
        ("a", PropertyName::Gain, "125 default"),
        ("a", PropertyName::Sync, "compressed default"),
    ];
    for (set, name, text) in expected {
        assert_eq!(shown(&sets, set, name), text, "{name} of {set}");
    }
    drop(sets);
    let sets = open_on(disk, 1 << 20).unwrap();
    sets.set_property("a/b", "compression=off").unwrap();
    let compression = PropertyName::Compression;
    assert_eq!(shown(&sets, "a/b/c", compression), "off inherited from a/b");
    sets.set_property("a/b", "compression=inherit").unwrap();
    assert_eq!(
        shown(&sets, "a/b/c", compression),
        "gzip-9 inherited from a"
    );
    let values = sets.property_values("a").unwrap();
    let names: Vec<PropertyName> = values.iter().map(|value| value.name).collect();
    assert_eq!(names, PropertyName::ALL);
}

#[test]
fn a_wrong_property_changes_nothing() {
    let sets = create_on(Arc::new(MemDisk::new()), 1 << 20);
    sets.create_set("a", Default::default()).unwrap();
    let error = sets.set_property("a", "gain=2000").unwrap_err();
    let property = PropertyName::Gain;
    let value = "2000".to_owned();
    let expected = PropertyError::InvalidValue { property, value };
    assert!(matches!(&error, DataSetError::Property(found) if *found == expected));
    assert_eq!(sets.properties("a").unwrap(), Default::default());
    assert!(matches!(
        sets.set_property("b", "gain=1"),
        Err(DataSetError::NotFound { .. })
    ));
    assert!(matches!(
        sets.property_values("b"),
        Err(DataSetError::NotFound { .. })
    ));
}
